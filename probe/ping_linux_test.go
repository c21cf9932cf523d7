package probe

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// needEcho skips the test where the kernel allows this user no ICMP.
func needEcho(t *testing.T, ipv6 bool) {
	t.Helper()
	s, err := sock.OpenEcho(ipv6)
	if err != nil {
		t.Skipf("no ICMP for this user: %v", err)
	}
	s.Close()
}

func TestPingLoopback(t *testing.T) {
	for _, target := range []string{"127.0.0.1", "::1"} {
		needEcho(t, target == "::1")
		var progress []measure.Echo
		result, err := Ping{Target: target, Count: 20, Interval: time.Millisecond, Size: 1000, TTL: 9, DSCP: 46,
			Poisson: true, DontFragment: true, Progress: func(e measure.Echo) { progress = append(progress, e) }}.Do(t.Context())
		if err != nil || result.Status != measure.StatusOK {
			t.Errorf("%s: status %s, %v", target, result.Status, err)
			continue
		}
		want := map[measure.Metric]float64{measure.SentPackets: 20, measure.ReceivedPackets: 20, measure.LostPackets: 0,
			measure.LossRatio: 0, measure.DuplicatePackets: 0, measure.ReorderedPackets: 0}
		for _, e := range result.Samples.Echoes {
			if e.DSCP == nil || *e.DSCP != 46 {
				t.Errorf("%s: an answer with the mark %v", target, e.DSCP)
			}
		}
		for metric, value := range want {
			if got, ok := result.Get(metric); !ok || got != value {
				t.Errorf("%s: %s = %v, %v; want %v", target, metric, got, ok, value)
			}
		}
		if rtt, _ := result.Get(measure.RTTMedian); rtt <= 0 || rtt > 0.1 {
			t.Errorf("%s: median round trip %v s", target, rtt)
		}
		if result.Parameters["stamps"] != "kernel" || result.Source.Address != target || result.Target.Address != target {
			t.Errorf("%s: stamps by %v, from %s to %s", target, result.Parameters["stamps"], result.Source.Address,
				result.Target.Address)
		}
		if diff := cmp.Diff(result.Samples.Echoes, progress); diff != "" || len(progress) != 20 {
			t.Errorf("%s: %d echoes of progress (-samples +progress):\n%s", target, len(progress), diff)
		}
	}
}

// A raw socket hears the replies to its own identifier only, which must be in the requests.
func TestPingRaw(t *testing.T) {
	inNamespace(t, func() { // a new one allows no other sockets
		for _, target := range []string{"127.0.0.1", "::1"} {
			result, err := Ping{Target: target, Count: 3, Interval: time.Millisecond}.Do(context.Background())
			received, _ := result.Get(measure.ReceivedPackets)
			if socket := result.Parameters["socket"]; err != nil || received != 3 || socket != "raw" {
				t.Errorf("%s: %v received through a %v socket, %v; want 3, raw", target, received, socket, err)
			}
		}
	})
}

// A target that answers nothing is measured, not failed.
func TestPingAllLost(t *testing.T) {
	inNamespace(t, func() {
		if err := os.WriteFile("/proc/sys/net/ipv4/icmp_echo_ignore_all", []byte("1"), 0); err != nil {
			t.Error(err)
			return
		}
		lost := 0
		result, err := Ping{Target: "127.0.0.1", Count: 3, Interval: time.Millisecond, Timeout: 5 * time.Millisecond,
			Progress: func(e measure.Echo) { lost++ }}.Do(context.Background())
		if err != nil || result.Status != measure.StatusOK {
			t.Errorf("status %s, %v", result.Status, err)
		}
		want := withLoss("xxx", map[measure.Metric]float64{measure.DuplicatePackets: 0, measure.Connectivity: 0})
		if diff := cmp.Diff(want, result.Metrics); diff != "" || lost != 3 {
			t.Errorf("%d echoes of progress; metrics (-want +got):\n%s", lost, diff)
		}
	})
}

func TestPingNoRoute(t *testing.T) {
	inNamespace(t, func() {
		result, err := Ping{Target: "192.0.2.1"}.Do(context.Background())
		if !errors.Is(err, unix.ENETUNREACH) || result.Status != measure.StatusFailed || len(result.Metrics) != 0 {
			t.Errorf("status %s, %v; want failed, network unreachable", result.Status, err)
		}
	})
}

// A cancelled ping returns what it has at once, and counts nothing as lost that may still come.
func TestPingCancelled(t *testing.T) {
	needEcho(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Now()
	result, err := Ping{Target: "127.0.0.1", Interval: time.Hour, Progress: func(measure.Echo) { cancel() }}.Do(ctx)
	if !errors.Is(err, context.Canceled) || result.Status != measure.StatusPartial || result.Error == nil {
		t.Errorf("status %s, %v; want partial, cancelled", result.Status, err)
	}
	sent, _ := result.Get(measure.SentPackets)
	if received, _ := result.Get(measure.ReceivedPackets); sent != 1 || received != 1 {
		t.Errorf("%v sent, %v received; want 1 and 1", sent, received)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v to end", took)
	}
}

func TestPingBadInput(t *testing.T) {
	result, err := Ping{Target: "127.0.0.1", Count: -1}.Do(t.Context())
	if !blamesCaller(err) || result.Status != measure.StatusFailed || *result.Error != err.Error() {
		t.Errorf("%+v, %v; want failed, bad input", result, err)
	}
}

// What comes in is matched to what was sent; the strays of others change nothing.
func TestPingRunEvents(t *testing.T) {
	target, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.99")
	start := time.Now()
	const ms = time.Millisecond
	sender := &packetSender{Socket: new(sock.Socket), target: target, packets: &echoPackets{raw: true, ident: 7, token: []byte("token")}}
	run := &pingRun{Ping: Ping{Timeout: 100 * ms}, sender: sender}
	for i := range 7 {
		sender.sent = append(sender.sent, sock.Stamp{User: start})
		run.echoes = append(run.echoes, pingEcho{Echo: measure.Echo{Seq: i + 1}, sent: start})
	}
	reply := func(sequence, ident uint16, token string, from netip.Addr, after time.Duration) {
		e := echo{reply: true, ident: ident, sequence: sequence, payload: []byte(token)}
		run.handle(sender.heard(sock.Packet{Data: e.marshal(false), From: netip.AddrPortFrom(from, 0), TTL: 60,
			At: sock.Stamp{User: start.Add(after)}}))
	}
	refuse := func(sequence uint16, mtu int) {
		e := echo{ident: 7, sequence: sequence}
		run.handle(sender.heard(sock.ICMPError{Type: 3, Code: 4, MTU: mtu, Offender: other, Quoted: e.marshal(false)}))
	}
	reply(3, 7, "token", target, 10*ms)
	reply(1, 7, "token", other, 20*ms)  // later sent, earlier come; from another address
	reply(1, 7, "token", target, 30*ms) // a duplicate
	reply(2, 8, "token", target, 10*ms) // another's identifier
	reply(2, 7, "tokem", target, 10*ms) // another's token
	reply(2, 7, "", target, 10*ms)
	reply(4, 7, "token", target, 101*ms) // after Timeout
	reply(8, 7, "token", target, 10*ms)  // never sent
	refuse(5, 1400)
	refuse(3, 0) // answered already
	refuse(7, 0)
	reply(7, 7, "token", target, 50*ms) // all the same
	run.expire(start.Add(100 * ms))
	reply(6, 7, "token", target, 99*ms) // came in time, seen late

	seconds := func(d time.Duration) *float64 { return new(d.Seconds()) }
	want := []measure.Echo{
		{Seq: 1, RTTSeconds: seconds(20 * ms), TTL: 60, From: "192.0.2.99", Duplicates: 1},
		{Seq: 2},
		{Seq: 3, RTTSeconds: seconds(10 * ms), TTL: 60},
		{Seq: 4},
		{Seq: 5, From: "192.0.2.99", Error: "packet too big (MTU 1400 bytes)"},
		{Seq: 6, RTTSeconds: seconds(99 * ms), TTL: 60},
		{Seq: 7, RTTSeconds: seconds(50 * ms), TTL: 60},
	}
	result := measure.NewResult("ping", start)
	run.report(result)
	if diff := cmp.Diff(want, result.Samples.Echoes); diff != "" {
		t.Errorf("echoes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]uint64{3, 1, 7, 6}, run.arrivals); diff != "" {
		t.Errorf("arrivals (-want +got):\n%s", diff)
	}
	if result.Parameters["stamps"] != "user" {
		t.Errorf("stamps by %v, want user", result.Parameters["stamps"])
	}
}

// inNamespace runs f on a thread in a new network namespace with loopback up; the thread ends with f. As f is not on the
// goroutine of the test, it must not call t.Fatal.
func inNamespace(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread dies with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = loopbackUp()
		}
		if err == nil {
			f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skipf("no new network namespace here: %v", err)
	}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}
