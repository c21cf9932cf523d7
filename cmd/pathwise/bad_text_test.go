package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// freeTexts are flags whose text cannot be wrong by itself, and why.
var freeTexts = map[string]string{
	"mesh export --source": "a pattern", "mesh export --target": "a pattern", "mesh export --tool": "a pattern",
	"diagnose --observed": "free words", "diagnose --expected": "free words", "diagnose --since": "free words", "diagnose --application": "free words",
	"mesh diagnose --segments": "hosts, which the controller knows",
	"mesh export --test":       "a pattern", "mesh export --subject": "a pattern", "mesh reparse --tool": "a pattern", "lab truth --flow": "a part of a name",
}

// badTexts are calls that are right but for the text of one flag: the command with its arguments, the flag, and its text. MESH, LAB
// and KEYS are files as they should be, FOLDER is one that may be written to.
var badTexts = []struct{ call, flag, text string }{
	{"serve MESH", "data", "/dev/null/x"}, {"serve", "reach", "x,y z"}, {"mesh invite", "data", "/dev/null/x"}, {"agent --join", "name", "x,y z"},
	{"mesh account", "data", "/dev/null/x"}, {"mesh account alice --data FOLDER", "role", "x,y z"}, {"mesh account alice --data FOLDER", "page", "x,y z"},
	{"mesh token", "data", "/dev/null/x"}, {"mesh token alice --data FOLDER", "scope", "x"},
	{"mesh backup FOLDER/b", "data", "/dev/null/x"}, {"mesh backup FOLDER/b", "passphrase-file", "/dev/null/x"},
	{"mesh export", "data", "/dev/null/x"}, {"mesh export", "from", "x,y z"}, {"mesh export", "to", "x,y z"},
	{"mesh reparse", "data", "/dev/null/x"},
	{"mesh run bulk a b", "data", "/dev/null/x"}, {"mesh run bulk a b", "set", "x,y z"}, {"mesh run bulk a b", "controller", "x,y z"},
	{"mesh run bulk a b --controller http://127.0.0.1:9", "ca-file", "/dev/null/x"},
	{"mesh run bulk a b --controller http://127.0.0.1:9", "token-file", "/dev/null/x"},
	{"mesh diagnose a b", "data", "/dev/null/x"}, {"mesh diagnose a b", "controller", "x,y z"},
	{"mesh diagnose a b --controller http://127.0.0.1:9", "ca-file", "/dev/null/x"},
	{"mesh diagnose a b --controller http://127.0.0.1:9", "token-file", "/dev/null/x"},
	{"mesh status", "data", "/dev/null/x"}, {"mesh status", "controller", "x,y z"},
	{"mesh status --controller http://127.0.0.1:9", "ca-file", "/dev/null/x"},
	{"mesh status --controller http://127.0.0.1:9", "token-file", "/dev/null/x"},
	{"mesh deploy MESH", "data", "/dev/null/x"}, {"mesh deploy MESH --data FOLDER", "address", "x y"},
	{"mesh deploy MESH --data FOLDER --address 127.0.0.1", "out", "/dev/null/x"},
	{"mesh check MESH", "data", "/dev/null/x"}, {"mesh plan MESH", "data", "/dev/null/x"}, {"mesh plan MESH", "from", "x,y z"},
	{"agent", "credentials", "/dev/null/x"}, {"agent --credentials KEYS", "listen", "x,y z"},
	{"agent --credentials KEYS", "policy", "/dev/null/x"}, {"agent --credentials KEYS", "state", "/dev/null/x"},
	{"sockets", "state", "x,y z"}, {"respond", "bind", "x,y z"}, {"respond", "bind", "192.0.2.1"}, {"respond", "stamp-key", "/dev/null/x"}, {"respond", "stamp-tlv-key", "/dev/null/x"},
	{"respond", "authorized-users-path", "/dev/null/x"}, {"respond", "rsa-private-key-path", "/dev/null/x"}, {"respond", "time-skew-threshold", "x,y z"},
	{"respond", "tls-certificate", "/dev/null/x"}, {"respond", "tls-key", "/dev/null/x"}, {"respond", "ndt7-cc", "x,y z"},
	{"ndt7", "direction", "x,y z"}, {"ndt7", "tls", "x,y z"},
	{"throughput 127.0.0.1", "username", "x"}, {"throughput 127.0.0.1", "password-file", "/dev/null/x"}, {"throughput 127.0.0.1", "rsa-public-key-path", "/dev/null/x"},
	{"respond", "key-file", "/dev/null/x"}, {"respond", "clients", "/dev/null/x"}, {"ping 127.0.0.1 --proto tcp", "method", "x,y z"},
	{"ping", "connect", "x,y z"}, {"ping", "connect", "carol"}, {"ping --connect 127.0.0.1:9", "fail-on", "x,y z"}, {"ping --connect 127.0.0.1:9", "ssh", "@x"},
	{"ping --connect 127.0.0.1:9 --ssh dtn1", "key", "/dev/null/x"}, {"ping --connect 127.0.0.1:9 --ssh dtn1", "known-hosts", "/dev/null/x"},
	{"watch-port 127.0.0.1:9", "from", "x,y z"}, {"transact 127.0.0.1", "quickack", "x,y z"}, {"flows LAB", "to", "127.0.0.1:x"},
	{"ping", "targets", "/dev/null/x"}, {"ping 127.0.0.1", "schedule", "x,y z"}, {"ping 127.0.0.1", "sizes", "x,y z"}, {"ping", "group", "x,y z"}, {"ping --group 239.1.2.3", "interface", "x,y z"}, {"ping --group 239.1.2.3", "name", "x,y z"},
	{"owd 127.0.0.1", "dscp", "ef,x"}, {"owd 127.0.0.1", "mode", "x,y z"}, {"owd 127.0.0.1", "key-file", "/dev/null/x"}, {"owd 127.0.0.1", "key-id", "x,y z"},
	{"trace", "targets", "/dev/null/x"}, {"trace 127.0.0.1 --report", "every", "x,y z"}, {"trace 127.0.0.1 --report", "every", "1ms"},
	{"trace 127.0.0.1 --watch", "every", "x,y z"}, {"trace 127.0.0.1 --watch", "for", "x,y z"}, {"trace 127.0.0.1 --watch", "log", "/dev/null/x"},
	{"demo --keep", "listen", "x,y z"},
	{"diagnose 127.0.0.1", "before", "/dev/null/x"}, {"diagnose", "pair", "a"}, {"diagnose --pair a/b", "since", "x,y z"},
	{"diagnose --pair a/b", "data", "/dev/null/x"}, {"diagnose --pair a/b", "controller", "x,y z"},
	{"diagnose --pair a/b --controller http://127.0.0.1:9", "ca-file", "/dev/null/x"},
	{"diagnose --pair a/b --controller http://127.0.0.1:9", "token-file", "/dev/null/x"},
	{"diagnose 127.0.0.1", "report", "/dev/null/x.html"}, {"diagnose 127.0.0.1", "report", "x.pdf"},
	{"diagnose 127.0.0.1", "budget", "20"}, {"diagnose 127.0.0.1", "budget", "1s"}, {"diagnose 127.0.0.1", "budget", "1kB"}, {"diagnose 127.0.0.1 --target-rtt 76ms", "target-rate", "x,y z"}, {"diagnose 127.0.0.1 --target-rate 500mbit", "target-rtt", "x,y z"},
	{"diagnose 127.0.0.1", "segments", "127.0.0.1"}, {"diagnose 127.0.0.1", "input", "/dev/null/x"}, {"throughput 127.0.0.1", "input", "/dev/null/x"}, {"throughput 127.0.0.1", "sweep", "x,y z"}, {"throughput 127.0.0.1", "beside", "reno,,"},
	{"throughput 127.0.0.1", "search", "x,y z"}, {"throughput 127.0.0.1", "group", "x,y z"}, {"throughput 127.0.0.1 --group 239.1.2.3", "receivers", "a:b:c"},
	{"explain", "kind", "x,y z"}, {"fetch 127.0.0.1", "scheme", "x,y z"}, {"fetch 127.0.0.1", "path", "x,y z"}, {"fetch 127.0.0.1", "name", "x,y z"},
	{"host", "rtt", "x,y z"}, {"host", "to", "no-such-host.invalid"}, {"host", "only", "x"},
	{"trace 127.0.0.1", "names", "/dev/null/x"}, {"trace 127.0.0.1", "asn", "/dev/null/x"}, {"trace 127.0.0.1", "asn", "dns:."}, {"trace 127.0.0.1", "owners", "/dev/null/x"},
	{"trace 127.0.0.1", "places", "/dev/null/x"}, {"trace 127.0.0.1 --names", "name-server", "x,y z"}, {"trace", "read", "/dev/null/x"},
	{"trace 127.0.0.1", "map", "/dev/null/x"}, {"trace 127.0.0.1", "graph", "/dev/null/x.dot"},
	{"diagnose 127.0.0.1", "file", "/dev/null/x"}, {"diagnose 127.0.0.1", "far-file", "../x"},
	{"throughput 127.0.0.1", "file", "/dev/null/x"}, {"throughput 127.0.0.1", "far-file", "../x"}, {"respond", "files", "/dev/null/x"}, {"respond", "multicast", "x,y z"},
	{"host", "os", "x,y z"}, {"host", "disk", "/dev/null/x"}, {"host --revert", "backup", "/dev/null/x"},
	{"diagnose", "ssh", "@x"}, {"diagnose --ssh dtn1", "key", "/dev/null/x"}, {"diagnose --ssh dtn1", "known-hosts", "/dev/null/x"},
	{"host dtn1", "key", "/dev/null/x"}, {"host dtn1", "known-hosts", "/dev/null/x"},
	{"lab up LAB", "device", "x,y z"}, {"lab up", "topology", "x,y z"}, {"lab up", "fault", "x,y z"},
	{"lab record random-loss", "dir", "/dev/null/x"},
	{"lab accuracy plan", "only", "x"}, {"lab accuracy plan", "most-rate", "x,y z"}, {"lab accuracy plan", "most-rate", "10kbit"},
	{"lab accuracy play", "dir", "/dev/null/x"}, {"lab accuracy play", "only", "x"}, {"lab accuracy play", "most-rate", "x,y z"},
	{"lab accuracy judge", "dir", "/dev/null/x"},
	{"lab truth", "from", "x,y z"}, {"lab truth", "to", "x,y z"},
	{"lab from RESULT", "output", "/dev/null/x"}, {"lab capture bob", "write", "/dev/null/x"}, {"lab gateway x0 x1", "file", "/dev/null/x"},
	{"mesh restore FOLDER/b", "data", "/dev/null/x"}, {"mesh restore FOLDER/b --data FOLDER/new", "mesh", "/dev/null/x"},
	{"mesh restore FOLDER/b --data FOLDER/new", "passphrase-file", "/dev/null/x"},
}

// Every flag that takes a text refuses one that cannot be right, in one line that names the flag and the text, before anything is
// done; unless every text is right.
func TestEveryFlagNamesBadTexts(t *testing.T) {
	folder := t.TempDir()
	made := strings.NewReplacer("MESH", filepath.Join(folder, "mesh.yaml"), "LAB", filepath.Join(folder, "lab.yaml"),
		"KEYS", filepath.Join(folder, "a.credentials"), "FOLDER", folder, "RESULT", filepath.Join(folder, "ping.json"))
	if err := os.WriteFile(made.Replace("LAB"), []byte("hosts: {bob: {}, carol: {}}\nlinks: [{between: [bob, carol]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mesh := "controller: {data: FOLDER/data, nats: {listen: '127.0.0.1:4222'}}\nhosts: {a: {address: 192.0.2.1}, b: {address: 192.0.2.2}}\n"
	if err := os.WriteFile(made.Replace("MESH"), []byte(made.Replace(mesh)), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, made.Replace("RESULT"), strings.Fields("ping 127.0.0.1 -c 2 -i 0.01 --proto tcp --port 9 --json"))
	mustRun(t, os.DevNull, strings.Fields(made.Replace("mesh deploy MESH --out FOLDER --address 127.0.0.1")))
	proved := map[string]bool{}
	for _, bad := range badTexts {
		call := strings.Fields(made.Replace(bad.call))
		got := refused(t, append(call, "--"+bad.flag+"="+bad.text)...)
		if !strings.HasPrefix(got, "--"+bad.flag+": ") || !strings.Contains(got, bad.text) && !strings.Contains(got, filepath.Dir(bad.text)) {
			t.Errorf("pathwise %s --%s=%s: %q", bad.call, bad.flag, bad.text, got)
		}
		for words := range everyCommand(t) {
			if strings.HasPrefix(bad.call+" ", words+" ") {
				proved[words+" --"+bad.flag] = true
			}
		}
	}
	for words, c := range everyCommand(t) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			name := words + " --" + f.Name
			text := strings.HasPrefix(f.Value.Type(), "string") && !readAsNumber(words, f)
			if text && !c.DisableFlagParsing && !proved[name] && freeTexts[name] == "" {
				t.Errorf("%s: in no table of this test", name)
			}
		})
	}
}

// mustRun runs a call that is right, and writes what it prints into a file.
func mustRun(t *testing.T, file string, args []string) {
	t.Helper()
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var said strings.Builder
	if status := run(args, nil, out, io.Writer(&said)); status != exitDone {
		t.Fatalf("pathwise %q: exit status %d, %s", args, status, said.String())
	}
}
