package owamp

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// Captured packets of every mode have their lengths, and tshark decodes those of the open mode without a complaint, numbers and all.
func TestDecodedByTshark(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"tcpdump", "tshark"} {
		if _, err := exec.LookPath(tool); err != nil || os.Getuid() != 0 {
			t.Skipf("to capture on loopback takes root, tcpdump and tshark (%v)", err)
		}
	}
	const host = "127.0.0.17" // no other test has it
	at, _ := serving(t, host, endpoint.Policy{Keys: keys})
	for _, mode := range []control.Mode{control.Open, control.Authenticated, control.Encrypted} {
		file := filepath.Join(t.TempDir(), "capture.pcap")
		stop := capturing(t, host, file)
		terms := short(10)
		r, err := measured(t, Client{Mode: mode, KeyID: "ann", Secret: keys["ann"]}, at, Plan{Forward: terms, Reverse: terms})
		if err != nil {
			t.Fatal(err)
		}
		stop()
		args := []string{"-r", file, "-T", "fields", "-e", "udp.length", "-e", "_ws.malformed", "-e", "_ws.expert.severity", "-e", "_ws.col.Protocol"}
		decoded := "data" // what is encrypted would be taken for any protocol whose first bytes fit
		if mode == control.Open {
			decoded = "owamp.test"
			args = append(args, "-e", "twamp.test.seq_number")
		}
		args = append(args, "-d", "udp.port==1-65535,"+decoded)
		out, err := exec.Command("tshark", append(args, "udp")...).CombinedOutput()
		if err != nil {
			t.Fatalf("tshark: %v\n%s", err, out)
		}
		packets := 0
		for line := range strings.Lines(string(out)) {
			fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			if len(fields) < 4 {
				continue // a remark on who runs it
			}
			packets++
			if fields[0] != fmt.Sprint(8+control.PacketBytes(mode, terms.Padding)) || fields[1] != "" || complains(fields[2]) {
				t.Errorf("%v: %q", mode, line)
			}
			if mode == control.Open && (fields[3] != "OWAMP-Test" || len(fields) < 5 || fields[4] == "") {
				t.Errorf("%v: %q is not decoded", mode, line)
			}
		}
		if sent := len(r.Forward.Records) + len(r.Reverse.Records); packets != sent {
			t.Errorf("%v: %d packets captured, %d sent:\n%s", mode, packets, sent, out)
		}
	}
}

// complains reports whether one of tshark's remarks, by their severities, is a warning or worse (PI_WARN in wireshark's epan/proto.h); less is
// chat, such as on a port that traceroute uses, too.
func complains(severities string) bool {
	const warning = 0x600000
	for text := range strings.SplitSeq(severities, ",") {
		if n, err := strconv.Atoi(text); text != "" && (err != nil || n >= warning) {
			return true
		}
	}
	return false
}

// capturing captures what a host of loopback sends and receives, from when it returns until the function that it returns is called.
func capturing(t *testing.T, host, file string) (stop func()) {
	t.Helper()
	c := exec.Command("tcpdump", "-i", "lo", "--immediate-mode", "-U", "-s", "0", "-w", file, "host", host)
	said, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(said)
	for line := ""; !strings.Contains(line, "listening on"); {
		if line, err = lines.ReadString('\n'); err != nil {
			t.Fatalf("tcpdump: %v", err)
		}
	}
	return func() {
		_ = c.Process.Signal(syscall.SIGINT)
		_, _ = lines.WriteTo(io.Discard)
		_ = c.Wait()
	}
}
