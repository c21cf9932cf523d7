package sock

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

// find returns the socket of this end among all of the host.
func find(t *testing.T, end net.Conn) Connection {
	t.Helper()
	all, err := Connections()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(c Connection) bool {
		return c.Local.String() == end.LocalAddr().String() && c.Remote.String() == end.RemoteAddr().String()
	})
	if i < 0 {
		t.Fatalf("%s is not among %d sockets", end.LocalAddr(), len(all))
	}
	return all[i]
}

// The kernel tells of a socket through netlink what it tells its program, over both families.
func TestConnections(t *testing.T) {
	for _, address := range loopbacks {
		client, server := connection(t, address.String())
		send(t, client, server, 100_000)
		if _, err := client.Write(make([]byte, 5000)); err != nil { // and nobody reads it
			t.Fatal(err)
		}
		deadline := time.Now().Add(patience)
		for find(t, server).Unread < 5000 && time.Now().Before(deadline) {
		}
		own, err := ReadTCPInfo(raw(t, client))
		if err != nil {
			t.Fatal(err)
		}
		c, s := find(t, client), find(t, server)
		want := []any{"established", own.BytesSent, own.SndMSS, uint64(105_000), 5000, 0}
		got := []any{c.State.String(), c.Info.BytesSent, c.Info.SndMSS, s.Info.BytesReceived, s.Unread, s.Unsent}
		if diff := cmp.Diff(want, got); diff != "" || c.Congestion == "" || c.Cookie == s.Cookie || c.Buffers.SendBuffer == 0 {
			t.Errorf("%s: %+v (-want +got):\n%s", address, c, diff)
		}
		v := s.Values()
		if v["unread_bytes"] != 5000 || v["receive_queued_bytes"] < 5000 || v["receive_buffer_bytes"] < v["receive_queued_bytes"] {
			t.Errorf("%s: values %v", address, v)
		}
	}
}

// A socket's program is found by it, with which buffers it set.
func TestOwners(t *testing.T) {
	client, server := connection(t, "127.0.0.1")
	if _, err := SetReceiveBuffer(raw(t, server), 20_000); err != nil {
		t.Fatal(err)
	}
	all := Owners()
	for end, want := range map[net.Conn][2]bool{client: {false, false}, server: {false, true}} {
		o := all[find(t, end).Inode]
		if o.PID != os.Getpid() {
			t.Fatalf("the owner is %+v, not this process", o)
		}
		send, receive, err := o.BuffersFixed()
		if err != nil && strings.Contains(err.Error(), unix.EPERM.Error()) {
			t.Skip("this user may not copy sockets of a process (pidfd_getfd): ", err)
		}
		if err != nil || [2]bool{send, receive} != want {
			t.Errorf("buffers set: %v %v, %v; want %v", send, receive, err, want)
		}
	}
}

// What a program does is summed over its threads, interval by interval; a thread that is new counts from its beginning, one that waits and
// cannot be interrupted blocks the interval, and what is not shown is left out.
func TestProgram(t *testing.T) {
	dir, now := t.TempDir(), time.Unix(1e9, 0)
	thread := func(id, state string, cpu, queued int) {
		stat := id + " (copy) " + state + strings.Repeat(" 0", 45)
		write(t, dir+"/task/"+id+"/stat", stat)
		write(t, dir+"/task/"+id+"/schedstat", fmt.Sprintf("%d %d 1", cpu*1_000_000, queued*1_000_000))
	}
	write(t, dir+"/comm", "copy\n")
	thread("7", "S", 1000, 100)
	p, err := program(dir, now)
	if err != nil {
		t.Fatal(err)
	}
	thread("7", "R", 1060, 130)
	thread("8", "S", 20, 0)
	got := p.read(now.Add(100 * time.Millisecond))
	want := map[string]float64{"cpu_seconds": 0.08, "busiest_seconds": 0.09, "disk_seconds": 0, "blocked_seconds": 0}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" || p.Name != "copy" {
		t.Errorf("%s (-want +got):\n%s", p.Name, diff)
	}
	thread("8", "D", 30, 0)
	thread("7", "R", 1260, 130)
	write(t, dir+"/io", "rchar: 5\nread_bytes: 100\nwrite_bytes: 4096\ncancelled_write_bytes: 0\n")
	got = p.read(now.Add(200 * time.Millisecond))
	want = map[string]float64{"cpu_seconds": 0.29, "busiest_seconds": 0.19, "disk_seconds": 0, "blocked_seconds": 0.1}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	write(t, dir+"/io", "rchar: 5\nread_bytes: 100\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n")
	if got = p.read(now.Add(300 * time.Millisecond)); got["disk_written_bytes"] != 4096 || got["disk_read_bytes"] != 0 {
		t.Errorf("bytes of disks: %v", got)
	}
	if err := os.RemoveAll(dir + "/task"); err != nil {
		t.Fatal(err)
	}
	if got = p.read(now.Add(400 * time.Millisecond)); got != nil {
		t.Errorf("of a process that ended: %v", got)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// An account of a thread is read to the tick, or to the nanosecond where the kernel has that, whatever the program is called.
func TestParseThread(t *testing.T) {
	const stat = "77 (a) b (c)) D 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 1 0 100 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 30 21 22"
	for schedule, want := range map[string]thread{
		"":                      {cpu: 2 * time.Second, disk: 300 * time.Millisecond, state: 'D'},
		"1900000000 70000 12\n": {cpu: 1900 * time.Millisecond, queued: 70 * time.Microsecond, disk: 300 * time.Millisecond, state: 'D'},
		"1 x 2":                 {cpu: 2 * time.Second, disk: 300 * time.Millisecond, state: 'D'},
	} {
		if got, ok := parseThread(stat, schedule); !ok || got != want {
			t.Errorf("%q: %+v, %v; want %+v", schedule, got, ok, want)
		}
	}
	for _, wrong := range []string{"", "77 (a", "77 (a) D 1 2"} {
		if _, ok := parseThread(wrong, ""); ok {
			t.Errorf("%q was read", wrong)
		}
	}
}

// Whatever a kernel sends, it is decoded or refused.
func FuzzParseConnection(f *testing.F) {
	f.Add(make([]byte, diagHeaderSize))
	f.Add(append(make([]byte, diagHeaderSize), 8, 0, diagInfo, 0, 1, 2, 3, 4))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if c, err := parseConnection(raw); err == nil && len(raw) < diagHeaderSize {
			t.Errorf("%d bytes became %+v", len(raw), c)
		}
	})
}
