package gateway

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// between opens a gateway between two new stations and runs it for the test.
func between(t testing.TB, settings ...string) (g *Gateway, a, b *station) {
	t.Helper()
	a, b = newStation(t, 1), newStation(t, 2)
	c, err := Config{Seed: 3}.With(settings...)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = Open(a.port, b.port, c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
		g.Close()
	})
	return g, a, b
}

var (
	echoTime  = regexp.MustCompile(`time=([0-9.]+) ms`)
	echoCount = regexp.MustCompile(`(\d+) packets transmitted, (\d+) received`)
)

// ping returns how many requests were sent and answered, and the round trips in milliseconds, sorted.
func (s *station) ping(t testing.TB, target string, count int, more ...string) (sent, received int, trips []float64) {
	t.Helper()
	argv := append([]string{"ping", "-n", "-c", strconv.Itoa(count), "-i", "0.005", "-W", "1"}, more...)
	out := s.run(t, append(argv, target)...)
	m := echoCount.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("ping said nothing of packets:\n%s", out)
	}
	sent, _ = strconv.Atoi(m[1])
	received, _ = strconv.Atoi(m[2])
	for _, m := range echoTime.FindAllStringSubmatch(out, -1) {
		v, _ := strconv.ParseFloat(m[1], 64)
		trips = append(trips, v)
	}
	slices.Sort(trips)
	return sent, received, trips
}

// Neighbours are found, and the round trip is what was asked for. Its upper bound is wide, for a busy machine.
func TestPingFeelsDelay(t *testing.T) {
	for _, version := range []int{4, 6} {
		t.Run(fmt.Sprintf("IPv%d", version), func(t *testing.T) {
			g, a, b := between(t, "forward.delay=20ms", "reverse.delay=30ms")
			target := b.own
			if version == 6 {
				if _, err := os.Stat("/proc/net/if_inet6"); err != nil {
					t.Skip("no IPv6 here")
				}
				a.withIPv6(t)
				b.withIPv6(t)
				target = b.own6
			}
			sent, received, trips := a.ping(t, target, 20)
			if sent != 20 || received != 20 || trips[0] < 50 || trips[10] > 55 {
				t.Errorf("%d of %d answered, round trips of %v ms; want 20 of 20, and 50 to 55", received, sent, trips)
			}
			r := g.Snapshot()
			if r.Passed[0] == 0 || r.Passed[1] == 0 {
				t.Errorf("%v frames passed; want some, to find the neighbour", r.Passed)
			}
			if version == 4 && (r.Links[0].Packets != 20 || r.Links[1].Delivered != 20) {
				t.Errorf("the truth has %d there and %d back; want 20", r.Links[0].Packets, r.Links[1].Delivered)
			}
			if l := r.Links[0]; l.DelaySeconds.Min != 0.02 || l.DelaySeconds.Max != 0.02 {
				t.Errorf("delays of %+v; want 20 ms exactly", l.DelaySeconds)
			}
		})
	}
}

// What a real program misses is what the truth counted.
func TestLossIsWhatTruthCounted(t *testing.T) {
	g, a, b := between(t, "loss=10%")
	sent, received, _ := a.ping(t, b.own, 400, "-i", "0.002")
	r := g.Snapshot()
	lost := [2]int{int(r.Links[0].Dropped["loss"]), int(r.Links[1].Dropped["loss"])}
	if sent != 400 || int(r.Links[0].Packets) != sent || received != sent-lost[0]-lost[1] {
		t.Errorf("%d sent, %d received; the truth has %d, of which %v were lost", sent, received, r.Links[0].Packets, lost)
	}
	if lost[0] == 0 || lost[1] == 0 || r.Emulator.Refused+r.Emulator.Overflowed > 0 {
		t.Errorf("lost %v, emulator %+v; want some each way, and none by the gateway's own fault", lost, r.Emulator)
	}
}

// Real TCP gets what the rate allows: of 50 Mbit/s on Ethernet (1538 bytes a packet with preamble and gap) 1448 bytes, with
// time stamps. Offloads are on, as they are on every container's interface. Reno fills the link; BBR, which may be the default,
// paces by what it takes the link for, at times a tenth too slow.
func TestRateOfTCP(t *testing.T) {
	g, a, b := between(t, "rate=50mbit", "delay=2ms")
	var discard bytes.Buffer
	b.start(t, &discard, "iperf3", "-s", "-1")
	b.waitForPort(t, 5201)
	out := a.run(t, "iperf3", "-c", b.own, "-t", "3", "-O", "1", "-C", "reno", "-J")
	var report struct {
		End struct {
			Received struct {
				Rate float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("iperf3: %v:\n%s", err, out)
	}
	const want = 50e6 * 1448 / 1538
	if got := report.End.Received.Rate; got < 0.95*want || got > 1.02*want {
		t.Errorf("iperf3 received %.1f Mbit/s; want about %.1f", got/1e6, want/1e6)
	}
	if r := g.Snapshot(); r.Links[0].Delivered*1500 < r.Links[0].Bytes {
		t.Errorf("%d packets of %d bytes: super-packets count as one", r.Links[0].Delivered, r.Links[0].Bytes)
	}
}

// Whole super-packets and cut ones arrive as they were sent, whatever is lost, copied or fragmented on the way, in a VLAN or
// out of it.
func TestBytesArriveIntact(t *testing.T) {
	for _, settings := range [][]string{
		{"delay=1ms"},
		{"delay=1ms", "forward.loss=0.2%"},
		{"delay=1ms", "duplicate=1%", "rate=400mbit", "forward.reorder=1%"},
		{"delay=1ms", "mtu={size: 900B, excess: fragment}"},
		{"delay=1ms", "mtu=900B"},
	} {
		for _, vlan := range []int{0, 7} {
			t.Run(fmt.Sprintf("%s, VLAN %d", strings.Join(settings, " "), vlan), func(t *testing.T) {
				g, a, b := between(t, settings...)
				target := b.own
				if vlan > 0 {
					a.tagged(t, 1, vlan)
					target = b.tagged(t, 2, vlan)
				}
				sent, received := transfer(t, a, b, target+":7000", 8<<20)
				if sent != received {
					t.Error("what was received is not what was sent")
				}
				if r := g.Snapshot(); r.Links[0].Bytes < 8<<20 || r.Links[0].Delivered < 5000 {
					t.Errorf("truth: %+v; want all 8 MiB in packets", r.Links[0])
				}
			})
		}
	}
}

// transfer sends random bytes over TCP and returns the sums of what went out and what came.
func transfer(t *testing.T, a, b *station, address string, length int64) (sent, received [sha256.Size]byte) {
	t.Helper()
	l := b.listen(t, address)
	type outcome struct {
		sum [sha256.Size]byte
		err error
	}
	came := make(chan outcome, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			came <- outcome{err: err}
			return
		}
		defer c.Close()
		h := sha256.New()
		_, err = io.Copy(h, c)
		came <- outcome{[sha256.Size]byte(h.Sum(nil)), err}
	}()
	c := a.dial(t, address)
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	h := sha256.New()
	_, err := io.CopyN(io.MultiWriter(c, h), rand.NewChaCha8([32]byte{1}), length)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	got := <-came
	if got.err != nil {
		t.Fatal(got.err)
	}
	return [sha256.Size]byte(h.Sum(nil)), got.sum
}

// One port feels the rule, another does not.
func TestRuleByPort(t *testing.T) {
	_, a, b := between(t, "delay=2ms", "rules=[{match: {port: 7001}, delay: 60ms}]")
	b.listen(t, b.own+":7001")
	b.listen(t, b.own+":7002")
	for port, bounds := range map[int][2]time.Duration{
		7001: {120 * time.Millisecond, 400 * time.Millisecond},
		7002: {4 * time.Millisecond, 100 * time.Millisecond},
	} {
		began := time.Now()
		a.dial(t, fmt.Sprintf("%s:%d", b.own, port))
		if took := time.Since(began); took < bounds[0] || took > bounds[1] {
			t.Errorf("connecting to port %d took %v; want %v to %v", port, took, bounds[0], bounds[1])
		}
	}
}

// A frame in a VLAN feels the link too.
func TestVLANFeelsDelay(t *testing.T) {
	g, a, b := between(t, "delay=10ms")
	a.tagged(t, 1, 7)
	target := b.tagged(t, 2, 7)
	sent, received, trips := a.ping(t, target, 10)
	if sent != 10 || received != 10 || trips[0] < 20 || trips[5] > 25 {
		t.Errorf("%d of %d answered, round trips of %v ms; want 10 of 10, and 20 to 25", received, sent, trips)
	}
	if r := g.Snapshot(); r.Links[0].Packets != 10 {
		t.Errorf("the truth has %d packets; want 10", r.Links[0].Packets)
	}
}

// Above the MTU a sender is told, in the target's name, in its VLAN.
func TestTooBigIsTold(t *testing.T) {
	g, a, b := between(t, "forward.mtu=1000B")
	out := a.run(t, "ping", "-n", "-c", "1", "-W", "1", "-M", "do", "-s", "1200", b.own)
	if !strings.Contains(out, "mtu = 1000") && !strings.Contains(out, "mtu=1000") {
		t.Errorf("ping says nothing of the MTU:\n%s", out)
	}
	if r := g.Snapshot(); r.Links[0].Dropped[packet.TooBig.String()] != 1 || r.Links[0].Packets != 0 {
		t.Errorf("truth: %+v; want one dropped for its size", r.Links[0])
	}
}

// The link changes while it carries packets, and a change that is wrong changes nothing.
func TestChange(t *testing.T) {
	g, a, b := between(t)
	if err := g.Change("delay=10ms", "reverse.delay=20ms"); err != nil {
		t.Fatal(err)
	}
	if err := g.Change("loss=100%", "duplex=half"); err == nil {
		t.Error("half duplex without a rate: taken")
	}
	if _, received, trips := a.ping(t, b.own, 5); received != 5 || trips[0] < 30 {
		t.Errorf("%d answered, round trips of %v ms; want 5, of 30 and more", received, trips)
	}
	if got, want := g.Snapshot().Shapes, [2]string{"{delay: 10ms}", "{delay: 20ms}"}; got != want {
		t.Errorf("shapes %q; want %q", got, want)
	}
}

// Snapshots and changes while packets flow: for the race detector.
func TestSnapshotWhileRunning(t *testing.T) {
	g, a, b := between(t, "delay=1ms")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for k := 0; ; k++ {
			select {
			case <-stop:
				return
			default:
				_ = g.Change(fmt.Sprintf("delay=%dms", 1+k%3))
				g.Snapshot()
			}
		}
	}()
	transfer(t, a, b, b.own+":7000", 1<<20)
	close(stop)
	<-done
}

// A gateway ends within a second, and leaves neither descriptor nor promiscuous interface.
func TestEndsCleanly(t *testing.T) {
	a, b := newStation(t, 1), newStation(t, 2)
	before := descriptors(t)
	g, err := Open(a.port, b.port, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if n := promiscuous(t, a, b); n != 2 {
		t.Errorf("%d promiscuous interfaces; want 2", n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	began := time.Now()
	if err := g.Run(ctx); err != nil {
		t.Error(err)
	}
	g.Close()
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v to end", took)
	}
	if r := g.Snapshot(); r.Seconds <= 0 || r.Seconds > 5 {
		t.Errorf("after the end: %+v", r)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	if n := promiscuous(t, a, b); n != 0 {
		t.Errorf("%d promiscuous interfaces; want 0", n)
	}
}

func descriptors(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// promiscuous counts the interfaces that are.
func promiscuous(t *testing.T, all ...*station) (n int) {
	for _, s := range all {
		l, err := netlink.LinkByName(s.port)
		if err != nil {
			t.Fatal(err)
		}
		n += l.Attrs().Promisc
	}
	return n
}

// A gateway that is killed leaves no interface promiscuous.
func TestKilledLeavesNothing(t *testing.T) {
	a, b := newStation(t, 1), newStation(t, 2)
	c := exec.Command("/proc/self/exe", a.port, b.port)
	c.Env = append(os.Environ(), roleKey+"="+roleGateway)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("gateway says %q", line)
	}
	_, received, _ := a.ping(t, b.own, 2)
	_ = c.Process.Kill()
	_ = c.Wait()
	if received != 2 {
		t.Errorf("%d answers while it ran; want 2", received)
	}
	if n := promiscuous(t, a, b); n != 0 {
		t.Errorf("%d promiscuous interfaces; want 0", n)
	}
}

// An interface that goes down and comes back goes on; one that is removed ends the gateway.
func TestInterfaceGoes(t *testing.T) {
	a, b := newStation(t, 1), newStation(t, 2)
	g, err := Open(a.port, b.port, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	done := make(chan error, 1)
	go func() { done <- g.Run(context.Background()) }()
	l, err := netlink.LinkByName(b.port)
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetDown(l); err != nil {
		t.Fatal(err)
	}
	if err := netlink.LinkSetUp(l); err != nil {
		t.Fatal(err)
	}
	if _, received, _ := a.ping(t, b.own, 2); received == 0 {
		t.Error("no answer after the interface came back")
	}
	if err := netlink.LinkDel(l); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), b.port+": it is gone") {
			t.Errorf("error %v; want that %s is gone", err, b.port)
		}
	case <-time.After(10 * time.Second):
		t.Error("the gateway goes on without its interface")
	}
}
