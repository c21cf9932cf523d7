package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
)

// What follows or captures goes on until Ctrl-C, which is no failure, and then has written all that happened.
func TestFollowAndCaptureUntilInterrupted(t *testing.T) {
	name := fmt.Sprintf("follow-%d", os.Getpid())
	dir := t.TempDir()
	file, capture := filepath.Join(dir, "path.yaml"), filepath.Join(dir, "path.pcapng")
	if err := os.WriteFile(file, []byte("hosts: {bob: {}, carol: {}}\nrouters: [london]\n"+
		"links: [{between: [bob, london], delay: 5ms}, {between: [london, carol]}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := selfProcess(t, "lab", "up", file, "--name", name).CombinedOutput(); err != nil {
		t.Fatalf("lab up: %v\n%s", err, out)
	}
	t.Cleanup(func() {
		if out, err := selfProcess(t, "lab", "down", "--name", name).CombinedOutput(); err != nil {
			t.Errorf("lab down: %v\n%s", err, out)
		}
	})
	followers := []*exec.Cmd{
		selfProcess(t, "lab", "truth", "--follow", "--name", name),
		selfProcess(t, "lab", "truth", "--follow", "--per-link", "--name", name),
		selfProcess(t, "lab", "truth", "--follow", "--flow", "udp", "--name", name),
		selfProcess(t, "lab", "capture", "bob.eth0", "-w", capture, "--name", name),
	}
	printed := make([]drawing, len(followers))
	for i, f := range followers {
		f.Stdout, f.Stderr = &printed[i], os.Stderr
		if err := f.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Process.Kill() })
	}
	// shown sends datagrams to a port of carol's until all show one.
	shown := func(port string) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; {
			send := selfProcess(t, "lab", "exec", "bob", "--name", name, "--", "bash", "-c", "echo to port "+port+". >/dev/udp/10.0.1.2/"+port)
			if out, err := send.CombinedOutput(); err != nil {
				t.Fatalf("send datagram: %v\n%s", err, out)
			}
			time.Sleep(50 * ms)
			captured, _ := os.ReadFile(capture)
			missing := !bytes.Contains(captured, []byte("to port "+port+"."))
			for i := range 3 {
				missing = missing || !strings.Contains(printed[i].text(), "> 10.0.1.2:"+port+`"`)
			}
			if !missing {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("datagrams to port %s do not show: %q, %q, %q, %q", port, printed[0].text(), printed[1].text(), printed[2].text(), captured)
			}
		}
	}
	shown("7001") // now all listen
	ping := selfProcess(t, "lab", "exec", "bob", "--name", name, "--", "ping", "-c", "3", "-i", "0.01", "-q", "10.0.1.2")
	if out, err := ping.CombinedOutput(); err != nil {
		t.Fatalf("ping: %v\n%s", err, out)
	}
	shown("7002") // and so is all that came before
	for i, f := range followers {
		began := time.Now()
		if err := f.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if err := f.Wait(); err != nil {
			t.Errorf("follower %d: %v", i, err)
		}
		if took := time.Since(began); took > 3*time.Second { // a second on a machine that does nothing else
			t.Errorf("follower %d took %v to end", i, took)
		}
	}
	var events []int
	for i := range 3 {
		n := 0
		for lines := json.NewDecoder(strings.NewReader(printed[i].text())); lines.More(); {
			var e lab.Event
			if err := lines.Decode(&e); err != nil || e.Fate != "delivered" || (len(e.Link) == 2) != (i == 1) {
				t.Fatalf("follower %d: event %+v: %v", i, e, err)
			}
			if echo := strings.HasPrefix(e.Flow, "icmp ") && strings.Contains(e.Flow, " id "); echo { // errors of closed ports have no id
				n++
			} else if i == 2 && !strings.HasPrefix(e.Flow, "udp ") {
				t.Errorf("follower of udp shows %+v", e)
			}
		}
		events = append(events, n)
	}
	if diff := cmp.Diff([]int{6, 12, 0}, events); diff != "" {
		t.Errorf("3 echoes and their replies, over 2 links (-want +got events):\n%s", diff)
	}
	expectCapture(t, capture, 6)
}

// expectCapture has tcpdump, if there is one, count the packets of a capture.
func expectCapture(t *testing.T, path string, want int) {
	t.Helper()
	installed(t, "tcpdump") // to read what was captured
	out, err := exec.Command("tcpdump", "-n", "-r", path).Output()
	if got := bytes.Count(out, []byte("ICMP echo")); err != nil || got != want {
		t.Errorf("tcpdump reads %d packets of %d (%v):\n%s", got, want, err, out)
	}
}
