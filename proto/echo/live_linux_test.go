package echo

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/sock"
)

// needEcho skips the test where the kernel allows this user no ICMP.
func needEcho(t testing.TB) {
	t.Helper()
	for _, ipv6 := range []bool{false, true} {
		s, err := sock.OpenEcho(ipv6)
		if err != nil {
			t.Skipf("no ICMP for this user: %v", err)
		}
		s.Close()
	}
}

// loopback are so many addresses of 127.0.0.0/8, which all answer, and ::1.
func loopback(t testing.TB, n int) []netip.Addr {
	t.Helper()
	var list Targets
	if err := list.Add("127.1.0.0/21", ""); err != nil {
		t.Fatal(err)
	}
	targets := []netip.Addr{netip.IPv6Loopback()}
	for _, target := range list.All[:n] {
		targets = append(targets, target.Address)
	}
	return targets
}

// roundTrips are not compared where only counts are told in advance.
var roundTrips = cmpopts.IgnoreFields(Counts{}, "Least", "Most", "Sum", "squares")

// Two thousand targets and one of IPv6: each request is sent and answered, once each and in this order, by the kernel's stamps.
func TestPingMany(t *testing.T) {
	needEcho(t)
	targets := loopback(t, 2000)
	const rounds = 3
	next := make([]uint32, len(targets)) // the sequence number that is sent next
	open := make([]int, len(targets))
	kernel := 0
	counts, err := Pinger{Targets: targets, Count: rounds, Interval: 200 * ms, Timeout: time.Minute, Tell: func(e Event) {
		switch {
		case e.Fate == Sent && e.Sequence == next[e.Target]:
			next[e.Target]++
			open[e.Target]++
		case e.Fate == Answered && e.Sequence < next[e.Target] && e.RTT > 0 && e.TTL == 64 && !e.From.IsValid():
			open[e.Target]--
			if e.Kernel {
				kernel++
			}
		default:
			t.Errorf("unexpected: %+v", e)
		}
	}}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := make([]Counts, len(targets))
	for i := range want {
		want[i] = Counts{Sent: rounds, Answered: rounds}
	}
	if diff := cmp.Diff(want, counts, roundTrips); diff != "" || kernel != rounds*len(targets) {
		t.Errorf("%d round trips by the kernel's clock of %d; counts -want +got\n%s", kernel, rounds*len(targets), diff)
	}
	for i, c := range counts {
		if open[i] != 0 || c.Least <= 0 || c.Least > c.Mean() || c.Mean() > c.Most {
			t.Errorf("%s: %d open, round trips %v to %v, mean %v", targets[i], open[i], c.Least, c.Most, c.Mean())
		}
	}
}

// A run without a count ends with its context, and counts nothing as lost that may still come.
func TestPingUntilTold(t *testing.T) {
	needEcho(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	answered := 0
	began := time.Now()
	counts, err := Pinger{Targets: loopback(t, 3), Interval: time.Minute, Tell: func(e Event) {
		if e.Fate == Answered {
			if answered++; answered == 2 { // the first of each family
				cancel(enough)
			}
		}
	}}.Run(ctx)
	if !errors.Is(err, enough) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v; want %v, once", err, enough)
	}
	total := Counts{}
	for _, c := range counts {
		total.Sent, total.Answered, total.Lost = total.Sent+c.Sent, total.Answered+c.Answered, total.Lost+c.Lost
	}
	if diff := cmp.Diff(Counts{Sent: 2, Answered: 2}, total, roundTrips); diff != "" || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: -want +got\n%s", time.Since(began), diff)
	}
}

// What a socket is marked with, its packets are: here with an order not to be cut.
func TestPingMark(t *testing.T) {
	needEcho(t)
	tooLarge := 0
	counts, err := Pinger{Targets: loopback(t, 1), Count: 2, Interval: ms, Size: 65507,
		Mark: func(c syscall.RawConn) error { return sock.SetDontFragment(c) },
		Tell: func(e Event) {
			if e.Fate == Refused && e.Why == unix.EMSGSIZE.Error() {
				tooLarge++
			}
		}}.Run(t.Context())
	if err != nil || tooLarge < 2 { // an MTU of 65,536 has no room for the 65,535 bytes of IPv4, but more than enough for IPv6
		t.Errorf("%d too large, %+v, %v", tooLarge, counts, err)
	}
	refusal := errors.New("no such mark")
	if _, err := (Pinger{Targets: loopback(t, 1), Mark: func(syscall.RawConn) error { return refusal }}).Run(t.Context()); !errors.Is(err, refusal) {
		t.Errorf("%v; want %v", err, refusal)
	}
}

// A raw socket, where the kernel allows no other, sends requests and hears replies; requests that get no reply are lost, and those that this host cannot send or
// whose neighbour is not there are refused, while the stamps of the others stay theirs.
func TestPingRawFates(t *testing.T) {
	inNamespace(t, func() {
		if err := silentNeighbours("192.0.2.1/24", "2001:db8::1/64"); err != nil {
			t.Error(err)
			return
		}
		targets := loopback(t, 20)
		alive := len(targets)
		for _, a := range []string{"198.51.100.1", "2001:db8:1::1", "192.0.2.9", "2001:db8::9"} { // the first two have no route
			targets = append(targets, netip.MustParseAddr(a))
		}
		const rounds = 5
		why := map[string]int{}
		kernel := 0
		counts, err := Pinger{Targets: targets, Count: rounds, Interval: 20 * ms, Timeout: 10 * time.Second, Tell: func(e Event) {
			switch {
			case e.Fate == Refused:
				why[targets[e.Target].String()+" "+e.Why+" "+e.From.String()]++
			case e.Fate == Answered && e.Kernel:
				kernel++
			}
		}}.Run(context.Background())
		want := make([]Counts, len(targets))
		for i := range want {
			if want[i] = (Counts{Sent: rounds, Answered: rounds}); i >= alive {
				want[i] = Counts{Sent: rounds, Refused: rounds}
			}
		}
		if diff := cmp.Diff(want, counts, roundTrips); diff != "" || err != nil || kernel != rounds*alive {
			t.Errorf("%v; %d round trips by the kernel's clock, want %d; counts -want +got\n%s", err, kernel, rounds*alive, diff)
		}
		if diff := cmp.Diff(map[string]int{
			"198.51.100.1 network is unreachable invalid IP": rounds, "2001:db8:1::1 network is unreachable invalid IP": rounds,
			"192.0.2.9 host unreachable 192.0.2.1": rounds, "2001:db8::9 host unreachable 2001:db8::1": rounds,
		}, why); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

// Of a target that does not answer each request is lost, when its timeout is over.
func TestPingLost(t *testing.T) {
	inNamespace(t, func() {
		if err := os.WriteFile("/proc/sys/net/ipv4/icmp_echo_ignore_all", []byte("1"), 0); err != nil {
			t.Error(err)
			return
		}
		counts, err := Pinger{Targets: loopback(t, 50), Count: 4, Interval: 5 * ms, Timeout: 12 * ms}.Run(context.Background())
		want := make([]Counts, 51)
		for i := range want {
			want[i] = Counts{Sent: 4, Lost: 4}
		}
		want[0] = Counts{Sent: 4, Answered: 4} // IPv6 has a setting of its own
		if diff := cmp.Diff(want, counts, roundTrips); diff != "" || err != nil {
			t.Errorf("%v; counts -want +got\n%s", err, diff)
		}
	})
}

func TestPingerValidate(t *testing.T) {
	a := netip.MustParseAddr("127.0.0.1")
	many := loopback(t, 2000)
	for _, c := range []struct {
		p    Pinger
		want string
	}{
		{Pinger{}, `targets "0": give 1 to 65536`},
		{Pinger{Targets: []netip.Addr{a}, Count: -1}, `count "-1": give a number of requests, or 0 for no end`},
		{Pinger{Targets: []netip.Addr{a}, Interval: time.Microsecond}, `interval "1µs": give a time from 1ms to 1h for 1 targets`},
		{Pinger{Targets: many, Interval: ms}, `interval "1ms": give a time from 20.01ms to 1h for 2001 targets`},
		{Pinger{Targets: []netip.Addr{a}, Timeout: time.Hour}, `timeout "1h0m0s": give a time from 1ms to 1m0s`},
		{Pinger{Targets: many, Interval: 21 * ms, Timeout: time.Minute}, `timeout "1m0s": at this interval at most 21.987s for 2001 targets`},
		{Pinger{Targets: []netip.Addr{a}, Size: 8}, `size "8": give a number from 16 to 65507`},
		{Pinger{Targets: []netip.Addr{a, a}}, `target "127.0.0.1": give each address once`},
		{Pinger{Targets: []netip.Addr{{}}}, `target "invalid IP": give an IPv4 or IPv6 address`},
		{Pinger{Targets: []netip.Addr{netip.MustParseAddr("ff02::1")}}, `target "ff02::1": give addresses of single hosts`},
		{Pinger{Targets: []netip.Addr{netip.MustParseAddr("fe80::1%nowhere")}}, `target "fe80::1%nowhere": give the name of an interface of this host after the %`},
	} {
		if counts, err := c.p.Run(t.Context()); err == nil || err.Error() != c.want || !input.Bad(err) {
			t.Errorf("%+v, %v; want %s", counts, err, c.want)
		}
	}
}

// The order is random, but the same for the same seed, and has each target of the family once.
func TestInOrder(t *testing.T) {
	targets := loopback(t, 100)
	order := func(seed uint64) []int { return inOrder(targets, false, rand.New(rand.NewPCG(seed, 0))) }
	if diff := cmp.Diff(order(1), order(1)); diff != "" {
		t.Errorf("with the same seed:\n%s", diff)
	}
	if cmp.Equal(order(1), order(2)) {
		t.Error("the same order with another seed")
	}
	seen := map[int]bool{}
	for _, index := range order(1) {
		seen[index] = true
	}
	if len(seen) != 100 || seen[0] {
		t.Errorf("%d of 100 targets of IPv4", len(seen))
	}
}

// BenchmarkPing is one request and its reply, among a thousand targets at 20,000 requests/s.
func BenchmarkPing(b *testing.B) {
	needEcho(b)
	targets := loopback(b, 1000)[1:]
	before := processorTime(b)
	for b.Loop() {
		if _, err := (Pinger{Targets: targets, Count: 2, Interval: 50 * ms}).Run(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(2*len(targets)*b.N), "cpu-ns/request")
}

// processorTime is what this process has used, in it and in the kernel.
func processorTime(t testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
