package probe

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "add to docs/mesh-tools.md the sections of kinds that it lacks")

// docs/mesh-tools.md has a row for each parameter of each kind, with its default. -update adds the section of a new kind before that
// of programs.
func TestKindsAreDocumented(t *testing.T) {
	const path, programs = "../docs/mesh-tools.md", "\n## `command`"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, k := range Kinds() {
		heading, rows := "\n## `"+k.Name+"`", []string{}
		for _, p := range k.Parameters {
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", p.Name, p.Type, p.Default, p.Meaning))
		}
		if *update && !strings.Contains(text, heading) {
			text = strings.Replace(text, programs, heading+"\n\nMeasures "+k.Meaning+".\n\n| parameter | what | if left out | meaning |\n|---|---|---|---|\n"+
				strings.Join(rows, "\n")+"\n"+programs, 1)
		}
		_, section, found := strings.Cut(text, heading)
		if !found {
			t.Errorf("no section ## `%s`: -update adds it", k.Name)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, row := range rows {
			if !strings.Contains(section, row) {
				t.Errorf("%s: no row\n%s", k.Name, row)
			}
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// docs/agent.md lists the kinds that a policy can name, and what hosts may lack for them. -update writes both anew.
func TestAgentsPage(t *testing.T) {
	const path = "../docs/agent.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names, needs []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
		for _, n := range k.Needs {
			needs = append(needs, fmt.Sprintf("| `%s` | `%s` | %s |", n.What, n.Of(k.Name), n.Means))
		}
	}
	want := string(page)
	for _, part := range []struct{ begin, text, end string }{
		{"| `kinds` | kinds of tasks that this host does: ", strings.Join(names, ", "), " | all |\n"},
		{"| in the status | keeps from | what is needed |\n|---|---|---|\n", strings.Join(needs, "\n"), "\n\n"},
	} {
		before, rest, begins := strings.Cut(want, part.begin)
		_, after, ends := strings.Cut(rest, part.end)
		if !begins || !ends {
			t.Fatalf("%s lacks %q", path, part.begin)
		}
		want = before + part.begin + part.text + part.end + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(page)); diff != "" {
		t.Errorf("the page is not what the kinds say; -update writes it anew (-want +got):\n%s", diff)
	}
}

// What runs a program, names a file of a host or says to which port data goes is declared so, and nothing else is: every port, and what this
// test lists. All that is left is a number, one of a few words, or a word that it knows to be harmless.
func TestOutward(t *testing.T) {
	harmless := map[string]string{"ping": "window sizes", "host": "iface", "throughput": "beside cc sweep", "ndt7": "cc", "flows": "script"}
	closed := []string{"whole number", "code point", "code points", "time", "rate", "size", "ratio", "yes or no"}
	want := map[string][]string{"audit": {"to", "disk"}, "beacon": {"group", "interface", "name"}, "command": {"argv", "values", "parse"}, "app": {"name", "type", "path", "secret"}, "fetch": {"path", "name"}, "host": {"path"}, "owd": {"key-file", "key-id"},
		"throughput": {"username", "password-file", "rsa-public-key-path", "use-pkcs1-padding", "group", "receivers", "ttl"}, "transact": {"connect", "tls"}, "trace": {"responder-port"}}
	got := map[string][]string{}
	for _, k := range Kinds() {
		for _, p := range k.Parameters {
			if outward := (Catalogue{}).Outward(k.Name, p.Name); outward && p.Name == "port" {
				continue
			} else if outward {
				got[k.Name] = append(got[k.Name], p.Name)
			} else if p.Name == "port" || p.Values == nil && !slices.Contains(closed, p.Type) && !slices.Contains(strings.Fields(harmless[k.Name]), p.Name) {
				t.Errorf("%s of %s may be any %s: declare it Outward", p.Name, k.Name, p.Type)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
