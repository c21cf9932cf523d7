package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	printed := make([]bytes.Buffer, len(followers))
	for i, f := range followers {
		f.Stdout, f.Stderr = &printed[i], os.Stderr
		if err := f.Start(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(500 * ms) // nothing says that they listen
	ping := selfProcess(t, "lab", "exec", "bob", "--name", name, "--", "ping", "-c", "3", "-i", "0.01", "-q", "10.0.1.2")
	if out, err := ping.CombinedOutput(); err != nil {
		t.Fatalf("ping: %v\n%s", err, out)
	}
	time.Sleep(200 * ms) // what is printed travels
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
		for lines := json.NewDecoder(&printed[i]); lines.More(); n++ {
			var e lab.Event
			if err := lines.Decode(&e); err != nil || e.Fate != "delivered" || (len(e.Link) == 2) != (i == 1) {
				t.Fatalf("follower %d: event %+v: %v", i, e, err)
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
	if _, err := exec.LookPath("tcpdump"); err != nil {
		t.Skip("no tcpdump here to read what was captured")
	}
	out, err := exec.Command("tcpdump", "-n", "-r", path).Output()
	if got := bytes.Count(out, []byte("ICMP echo")); err != nil || got != want {
		t.Errorf("tcpdump reads %d packets of %d (%v):\n%s", got, want, err, out)
	}
}
