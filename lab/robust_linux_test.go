package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// A lab that no machine could carry still answers, and says that it cannot.
func TestOverloadIsTold(t *testing.T) {
	l := start(t, `
hosts: {a: {}, b: {}}
routers: [r]
links: [{between: [a, r], delay: 1ms}, {between: [r, b], delay: 1ms}]
traffic: [{from: a, to: b, kind: constant, rate: 100gbit}]
`, Options{})
	for deadline := time.Now().Add(20 * time.Second); ; {
		truth, err := l.Truth()
		if err != nil {
			t.Fatal(err)
		}
		if truth.Emulator.Bottleneck {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the emulator: %+v; want it to be the bottleneck", truth.Emulator)
		}
	}
}

// A command that takes its interface away costs the lab that interface, and no processor.
func TestInterfaceTakenAway(t *testing.T) {
	for _, kind := range kinds(t) {
		t.Run(string(kind), func(t *testing.T) {
			l := start(t, bobAndCarol, Options{Device: kind})
			if out, status := run(t, l, "bob", "ip", "link", "delete", "eth0"); status != 0 {
				t.Fatalf("ip: %s", out)
			}
			before := processorTicks(t, l.Status.PID)
			time.Sleep(time.Second) // what is measured is how much of it the engine takes
			if ticks := processorTicks(t, l.Status.PID) - before; ticks > 30 {
				t.Errorf("the engine took %d of 100 ticks with nothing to do", ticks)
			}
		})
	}
}

// processorTicks is how long a process ran, in hundredths of a second: fields 14 and 15 of its stat line (proc(5)).
func processorTicks(t *testing.T, pid int) (ticks int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:]))
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return ticks
}

// A link that tells one end of a smaller MTU than the other brings that end what the other may send.
func TestMTUOfOneWay(t *testing.T) {
	l := start(t, `
hosts: {a: {}, b: {}}
links: [{between: [a, b], delay: 1ms, reverse: {mtu: 1400B}}]
`, Options{})
	for _, test := range []struct {
		from, to, size string
		want           int
	}{
		{"b", "10.0.0.1", "1372", 0}, // with headers 1400 bytes
		{"b", "10.0.0.1", "1373", 1},
		{"b", "fd70:6174:6877::1", "1352", 0},
		{"b", "fd70:6174:6877::1", "1353", 1},
		{"a", "10.0.0.2", "1372", 0},
		{"a", "10.0.0.2", "1472", 0}, // the reply, which may be cut, is
	} {
		out, status := run(t, l, test.from, "ping", "-n", "-M", "do", "-c", "1", "-W", "1", "-s", test.size, test.to)
		if status != test.want {
			t.Errorf("ping -s %s from %s to %s: status %d, want %d:\n%s", test.size, test.from, test.to, status, test.want, out)
		}
	}
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	if truth.Emulator.Refused > 0 || truth.Links[0].Delivered != truth.Links[0].Packets {
		t.Errorf("refused %d, %+v; want all delivered", truth.Emulator.Refused, truth.Links[0])
	}
}

// A jumbo frame that meets an ordinary adapter ends there, and that is not the emulator's doing.
func TestJumboMeetsOrdinary(t *testing.T) {
	v := newVirtual(t, `
hosts: {a: {}, b: {}}
routers: [r]
links: [{between: [a, r], mtu: 9000B}, {between: [r, b]}]
`)
	v.Inject(0, 0, v.udp("10.0.0.1", "10.0.1.2", 64, 4000, 0))
	v.Advance(forever)
	want := outcome{Dropped: map[string]uint64{packet.TooBig.String(): 1}}
	if diff := cmp.Diff(want, v.outcome(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a host drops at its own link for the link's MTU came to that link, at that time.
func TestTooBigCameToTheLink(t *testing.T) {
	v := newVirtual(t, line("[r, s]", ", mtu: 1300B"))
	v.Inject(0, 0, v.udp(lineA, lineB, 64, 1400, 0))
	v.Advance(forever)
	if truth := v.Truth().Links[2]; truth.Packets != 1 || truth.Delivered != 0 {
		t.Errorf("%d packets, %d delivered; want 1 and 0", truth.Packets, truth.Delivered)
	}
}

// Captures see cross traffic where it begins.
func TestTapSeesCrossTraffic(t *testing.T) {
	v := newVirtual(t, line("[r, s]", "")+"traffic: [{from: a, to: b, kind: constant, rate: 100kbit, stop: 1s}]\n")
	out := 0
	v.AddTap(&tap{see: func(_ int64, iface int, leaves bool, _ *packet.Packet) {
		if v.plan.nodeOf(iface) == "a" && leaves {
			out++
		}
	}})
	v.Advance(forever)
	if sent := v.Truth().Links[0].Packets; out == 0 || uint64(out) != sent {
		t.Errorf("saw %d packets leave, the link %d", out, sent)
	}
}

// What a command leaves in the background ends with it.
func TestBackgroundEndsWithItsCommand(t *testing.T) {
	l := start(t, bobAndCarol, Options{})
	marker := "98764." + strconv.Itoa(os.Getpid())
	out, status := run(t, l, "bob", "sh", "-c", "sleep "+marker+" >/dev/null 2>&1 & echo begun")
	if status != 0 || out != "begun\n" {
		t.Fatalf("status %d: %s", status, out)
	}
	for deadline := time.Now().Add(5 * time.Second); len(processesWith(t, marker)) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("it still runs")
		}
	}
}

// Down returns when all that ran in the lab has gone.
func TestDownWaitsForAll(t *testing.T) {
	name := "down" + strconv.Itoa(os.Getpid())
	l, err := Start(t.Context(), mustParse(t, bobAndCarol), Options{Name: name, Detached: true})
	if err != nil {
		t.Fatal(err)
	}
	marker := "98763." + strconv.Itoa(os.Getpid())
	if _, err := l.Start(context.Background(), "bob", Command{Argv: []string{"sleep", marker}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Down(); err != nil {
		t.Fatal(err)
	}
	if left := processesWith(t, marker); len(left) > 0 {
		t.Errorf("left behind: processes %v", left)
	}
}

// A value that the kernel does not have is told from a name that it does not have.
func TestSysctlFaults(t *testing.T) {
	l := start(t, bobAndCarol, Options{})
	for _, test := range []struct{ key, value, want string }{
		{"net.ipv4.tcp_congestion_control", "bbrx", "does not take this value"},
		{"net.ipv4.tcp_congestion", "bbr", "no such setting"},
	} {
		err := l.SetSysctl("bob", test.key, test.value)
		var bad interface{ BadInput() bool }
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: %v; want %q", test.key, test.value, err, test.want)
		}
	}
}
