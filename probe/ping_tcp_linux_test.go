package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
)

// A SYN as another TCP made it: from 192.0.2.1 port 40000 to 192.0.2.2 port 443, its checksum included.
func TestSegment(t *testing.T) {
	from, to := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	s := segment{from: 40000, to: 443, seq: 0x01020304, flags: flagSYN}
	p := s.marshal(from, to)
	whole := append(append(from.AsSlice(), to.AsSlice()...), 0, 0, 0, 24, 0, 0, 0, 6)
	if sum := checksum(append(whole, p...)); sum != 0 { // a sum over a right checksum is 0 (RFC 1071)
		t.Errorf("checksum of % x leaves %04x", p, sum)
	}
	if got, ok := parseSegment(p); !ok || got != s {
		t.Errorf("read back as %+v", got)
	}
	if got, ok := parseSegment(p[:8]); !ok || got != (segment{from: 40000, to: 443, seq: 0x01020304}) {
		t.Errorf("quoted by an ICMP error: %+v %v", got, ok)
	}
	if _, ok := parseSegment(p[:7]); ok {
		t.Error("seven bytes are no segment")
	}
}

// Which SYN a segment speaks of: by its ports, its flags and its number, which may come round.
func TestSYNAnswers(t *testing.T) {
	s := &synPackets{from: netip.MustParseAddrPort("192.0.2.1:40000"), to: netip.MustParseAddrPort("192.0.2.2:443"), base: 0xfffffffe}
	answer := func(a segment) []byte { return a.marshal(s.to.Addr(), s.from.Addr()) }
	for name, c := range map[string]struct {
		answer segment
		want   int // -1: none
	}{
		"accepted":         {segment{443, 40000, 9, 0xffffffff, flagSYN | flagACK}, 0},
		"refused":          {segment{443, 40000, 0, 0xffffffff, flagRST | flagACK}, 0},
		"the next":         {segment{443, 40000, 9, 0, flagSYN | flagACK}, 1},
		"come round":       {segment{443, 40000, 9, 1, flagSYN | flagACK}, 2},
		"not sent yet":     {segment{443, 40000, 9, 2, flagSYN | flagACK}, -1},
		"before the first": {segment{443, 40000, 9, 0xfffffffe, flagSYN | flagACK}, -1},
		"another port":     {segment{80, 40000, 9, 0, flagSYN | flagACK}, -1},
		"to another":       {segment{443, 40001, 9, 0, flagSYN | flagACK}, -1},
		"data":             {segment{443, 40000, 9, 0, flagACK}, -1},
		"a SYN of its own": {segment{443, 40000, 9, 0, flagSYN}, -1},
	} {
		index, ok := s.answered(answer(c.answer), 3)
		if ok != (c.want >= 0) || ok && index != c.want {
			t.Errorf("%s: request %d, %v; want %d", name, index, ok, c.want)
		}
	}
	if index, ok := s.quoted(s.request(1)[:8], 3); !ok || index != 1 {
		t.Errorf("an ICMP error quotes request %d, %v; want 1", index, ok)
	}
}

func FuzzSegment(f *testing.F) {
	s := &synPackets{from: netip.MustParseAddrPort("192.0.2.1:40000"), to: netip.MustParseAddrPort("192.0.2.2:443")}
	f.Add(s.request(0))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		for _, find := range []func([]byte, int) (int, bool){s.answered, s.quoted} {
			if index, ok := find(p, 3); ok && (index < 0 || index >= 3) {
				t.Errorf("request %d of 3", index)
			}
		}
	})
}

// Both ways to ping by TCP hear a port where somebody listens and one where nobody does, over both families, and leave nothing open.
func TestPingTCP(t *testing.T) {
	inNamespace(t, func() { // where raw sockets are allowed, and no ports are taken
		for _, host := range []string{"127.0.0.1", "::1"} {
			l, err := net.Listen("tcp", net.JoinHostPort(host, "443"))
			if err != nil {
				t.Error(err)
				return
			}
			for _, port := range []int{443, 444} {
				for _, proto := range []string{protoTCP, protoSYN} {
					pingTCP(t, Ping{Target: host, Proto: proto, Port: port, Count: 20, Interval: time.Millisecond, TTL: 9, DSCP: 46})
				}
			}
			l.Close()
		}
	})
}

func pingTCP(t *testing.T, p Ping) {
	r, err := p.Do(context.Background())
	if err != nil || r.Metrics[measure.ReceivedPackets] != 20 || r.Metrics[measure.DuplicatePackets] != 0 {
		t.Errorf("%s port %d, %s: %v of %v came, %v", p.Target, p.Port, p.Proto, r.Metrics[measure.ReceivedPackets], r.Metrics[measure.SentPackets], err)
	}
	if rtt := r.Metrics[measure.RTTMedian]; rtt <= 0 || rtt > 0.1 {
		t.Errorf("%s port %d, %s: median round trip %v s", p.Target, p.Port, p.Proto, rtt)
	}
	stamps := map[bool]string{true: "kernel", false: "user"}[p.Proto == protoSYN || p.Port == 443] // TCP_INFO is of connections that were opened
	if r.Parameters["stamps"] != stamps {
		t.Errorf("%s port %d, %s: stamps by %v, want %s", p.Target, p.Port, p.Proto, r.Parameters["stamps"], stamps)
	}
}

// Where a route says that there is no way, that is said at once, by each way to ping and of each request.
func TestPingTCPNoWay(t *testing.T) {
	inNamespace(t, func() {
		for _, proto := range []string{protoTCP, protoSYN} {
			r, err := Ping{Target: "192.0.2.1", Proto: proto, Count: 3}.Do(context.Background())
			if !errors.Is(err, unix.ENETUNREACH) || r.Status != measure.StatusFailed {
				t.Errorf("%s: status %s, %v; want failed, network unreachable", proto, r.Status, err)
			}
		}
	})
	run := &connectRun{Ping: Ping{Port: 443, Timeout: time.Minute}, to: netip.MustParseAddrPort("192.0.2.1:443"), last: true}
	run.echoes, run.known = make([]measure.Echo, 1), make([]bool, 1)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	a := connecting{socket: os.NewFile(uintptr(fd), "connection"), began: time.Now(), said: unix.EHOSTUNREACH}
	if err := run.settle(run.outcome(t.Context(), 0, a)); err != nil || run.echoes[0].Error != unix.EHOSTUNREACH.Error() {
		t.Errorf("what the kernel said at once became %+v, %v", run.echoes[0], err)
	}
}

// A listener that takes no more connections drops SYNs without a word: those are lost, by both ways.
func TestPingTCPLost(t *testing.T) {
	inNamespace(t, func() {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			defer unix.Close(fd)
			err = unix.Bind(fd, &unix.SockaddrInet4{Port: 443, Addr: [4]byte{127, 0, 0, 1}})
		}
		if err == nil {
			err = unix.Listen(fd, 0)
		}
		if err != nil {
			t.Error(err)
			return
		}
		full, err := net.Dial("tcp", "127.0.0.1:443")
		if err != nil {
			t.Error(err)
			return
		}
		defer full.Close()
		for _, proto := range []string{protoTCP, protoSYN} {
			r, err := Ping{Target: "127.0.0.1", Proto: proto, Count: 3, Interval: time.Millisecond, Timeout: 50 * time.Millisecond}.Do(context.Background())
			want := map[measure.Metric]float64{measure.SentPackets: 3, measure.ReceivedPackets: 0, measure.LostPackets: 3, measure.LossRatio: 1,
				measure.LossBurstMax: 3, measure.DuplicatePackets: 0}
			if diff := cmp.Diff(want, r.Metrics); diff != "" || err != nil {
				t.Errorf("%s: %v, metrics (-want +got):\n%s", proto, err, diff)
			}
		}
	})
}
