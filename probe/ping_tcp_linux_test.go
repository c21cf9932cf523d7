package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
)

// Both ways to ping by TCP hear a port where somebody listens and one where nobody does, over both families and at an address that
// needs its zone.
func TestPingTCP(t *testing.T) {
	inNamespace(t, func() { // where raw sockets are allowed, and no ports are taken
		if err := addLinkLocal(); err != nil {
			t.Error(err)
			return
		}
		for _, host := range []string{"127.0.0.1", "::1", "fe80::1%lo"} {
			l, err := net.Listen("tcp", net.JoinHostPort(host, "443"))
			if err != nil {
				t.Error(err)
				return
			}
			for _, port := range []int{443, 444} {
				for _, method := range pingMethods {
					pingTCP(t, Ping{Target: host, Proto: protoTCP, Method: method, Port: port, Count: 20, Interval: 3 * time.Millisecond,
						Timeout: time.Second, TTL: 9, DSCP: 46})
				}
			}
			l.Close()
		}
	})
}

// addLinkLocal gives the loopback interface of this network namespace the address fe80::1.
func addLinkLocal() error {
	link, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	address, err := netlink.ParseAddr("fe80::1/64")
	if err != nil {
		return err
	}
	address.Flags = unix.IFA_F_NODAD
	return netlink.AddrAdd(link, address)
}

func pingTCP(t *testing.T, p Ping) {
	r, err := p.Do(context.Background())
	if err != nil || r.Metrics[measure.ReceivedPackets] != 20 || r.Metrics[measure.DuplicatePackets] != 0 {
		t.Errorf("%s port %d, %s: %v of %v came, %v", p.Target, p.Port, p.Proto, r.Metrics[measure.ReceivedPackets],
			r.Metrics[measure.SentPackets], err)
	}
	if rtt := r.Metrics[measure.RTTMedian]; rtt <= 0 || rtt > 0.1 {
		t.Errorf("%s port %d, %s: median round trip %v s", p.Target, p.Port, p.Proto, rtt)
	}
	// TCP_INFO is of connections that were opened.
	stamps := map[bool]string{true: "kernel", false: "user"}[p.Method == methodSYN || p.Port == 443]
	if r.Parameters["stamps"] != stamps {
		t.Errorf("%s port %d, %s: stamps by %v, want %s", p.Target, p.Port, p.Proto, r.Parameters["stamps"], stamps)
	}
}

// Where a route says that there is no way, that is said at once, by each way to ping and of each request.
func TestPingTCPNoWay(t *testing.T) {
	inNamespace(t, func() {
		for _, method := range pingMethods {
			r, err := Ping{Target: "192.0.2.1", Proto: protoTCP, Method: method, Count: 3}.Do(context.Background())
			if !errors.Is(err, unix.ENETUNREACH) || r.Status != measure.StatusFailed {
				t.Errorf("%s: status %s, %v; want failed, network unreachable", method, r.Status, err)
			}
		}
	})
}

// A way that ends on this host, or at a neighbour that does not answer, is given up where there is another, and else is the error of
// each request: the same for each way to ping.
func TestPingTCPWayEnds(t *testing.T) {
	inNamespace(t, func() {
		if err := silentNetwork("192.0.2.1/24"); err != nil {
			t.Error(err)
			return
		}
		for _, proto := range append(slices.Clone(pingProtos), methodSYN) {
			method := ""
			if proto == methodSYN {
				proto, method = protoTCP, methodSYN
			}
			for _, last := range []bool{false, true} {
				p := Ping{Proto: proto, Method: method, Port: 443, Count: 3, Interval: 3 * time.Millisecond, Timeout: time.Second}.withDefaults()
				silent := way{netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.1")}
				r := measure.NewResult("ping", time.Now())
				err := p.measureWay(t.Context(), silent, last, r)
				var unreachable *unreachableError
				if errors.As(err, &unreachable) == last || last && (err != nil || len(r.Samples.Echoes) != 3 || r.Samples.Echoes[0].Error == "") {
					t.Errorf("%s, last %v, at a silent neighbour: %v, %+v", proto, last, err, r.Samples.Echoes)
				}
				nowhere := way{netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("192.0.2.1")}
				err = p.measureWay(t.Context(), nowhere, last, measure.NewResult("ping", time.Now()))
				if errors.As(err, &unreachable) == last || last && !errors.Is(err, unix.ENETUNREACH) {
					t.Errorf("%s, last %v, without a route: %v", proto, last, err)
				}
			}
		}
	})
}

// silentNetwork makes an interface with an address, on whose network nobody else is, which the kernel finds out in 30 ms.
func silentNetwork(address string) error {
	link := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "silent"}, PeerName: "peer"}
	a, err := netlink.ParseAddr(address)
	if err == nil {
		err = errors.Join(netlink.LinkAdd(link), netlink.AddrAdd(link, a), netlink.LinkSetUp(link),
			os.WriteFile("/proc/sys/net/ipv4/neigh/silent/retrans_time_ms", []byte("10"), 0))
	}
	if err != nil {
		return err
	}
	peer, err := netlink.LinkByName("peer")
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(peer)
}

// A ping by connections that is cut short ends at once, waits for nothing more and leaves nothing open, and counts what was under
// way as neither answered nor lost.
func TestPingTCPCancelled(t *testing.T) {
	inNamespace(t, func() {
		full, err := fullListener()
		if err != nil {
			t.Error(err)
			return
		}
		defer full.Close()
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		r, err := Ping{Target: "127.0.0.1", Proto: protoTCP, Count: 3, Interval: 3 * time.Millisecond, Timeout: time.Second}.Do(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || len(r.Samples.Echoes) != 0 || time.Since(began) > 500*time.Millisecond {
			t.Errorf("%v after %v, with %+v", err, time.Since(began), r.Samples.Echoes)
		}
		want := []string{"3 requests were on their way when the measurement was cut short and are not counted"}
		if diff := cmp.Diff(want, r.Notes); diff != "" {
			t.Errorf("notes (-want +got):\n%s", diff)
		}
		if still := connecting(); still != 0 {
			t.Errorf("%d connections are still under way", still)
		}
	})
}

// Connections that are begun when the ping is ended already end with it, whatever their timeout.
func TestConnectionsEnd(t *testing.T) {
	inNamespace(t, func() {
		full, err := fullListener()
		if err != nil {
			t.Error(err)
			return
		}
		defer full.Close()
		c := newConnections(netip.MustParseAddrPort("127.0.0.1:443"), time.Minute, nil)
		c.interrupt()
		for i := range 200 {
			if _, err := c.send(i, 0); err != nil {
				t.Error(err)
			}
		}
		began := time.Now()
		c.close()
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("ended after %v", took)
		}
	})
}

// A SYN that the kernel sent again is lost, though the connection opens in time.
func TestPingTCPSentAgain(t *testing.T) {
	inNamespace(t, func() {
		full, err := fullListener()
		if err != nil {
			t.Error(err)
			return
		}
		defer full.Close()
		c := newConnections(netip.MustParseAddrPort("127.0.0.1:443"), 3*time.Second, nil)
		defer c.close()
		if _, err := c.send(0, 0); err != nil {
			t.Error(err)
			return
		}
		for end := time.Now().Add(time.Second / 2); connecting() == 0 && time.Now().Before(end); {
			runtime.Gosched() // until its SYN was dropped
		}
		peer, _, err := unix.Accept(int(full.listener.Fd())) // makes room for the next
		if err != nil {
			t.Error(err)
			return
		}
		defer unix.Close(peer)
		if event, err := c.receive(time.Now().Add(1500 * time.Millisecond)); event != nil {
			t.Errorf("%+v, %v; want nothing", event, err)
		}
		if still := connecting(); still != 0 {
			t.Error("the connection did not open")
		}
	})
}

// connecting is how many connections of this network namespace wait for an answer.
func connecting() (n int) {
	sockets, err := os.ReadFile("/proc/thread-self/net/tcp")
	if err != nil {
		return -1
	}
	const synSent = " 02 " // the column of the state
	return strings.Count(string(sockets), synSent)
}

// A listener that takes no more connections drops SYNs without a word: those are lost, by both ways.
func TestPingTCPLost(t *testing.T) {
	inNamespace(t, func() {
		full, err := fullListener()
		if err != nil {
			t.Error(err)
			return
		}
		defer full.Close()
		for _, method := range pingMethods {
			p := Ping{Target: "127.0.0.1", Proto: protoTCP, Method: method, Count: 3, Interval: 3 * time.Millisecond, Timeout: 50 * time.Millisecond}
			r, err := p.Do(context.Background())
			want := withLoss("xxx", map[measure.Metric]float64{measure.DuplicatePackets: 0, measure.Connectivity: 0})
			if diff := cmp.Diff(want, r.Metrics); diff != "" || err != nil {
				t.Errorf("%s: %v, metrics (-want +got):\n%s", method, err, diff)
			}
		}
	})
}

// fullListener listens on port 443 of 127.0.0.1 and has taken all the connections that it can.
func fullListener() (*takenListener, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	listener := os.NewFile(uintptr(fd), "listener")
	err = unix.Bind(fd, &unix.SockaddrInet4{Port: 443, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = unix.Listen(fd, 0)
	}
	var taken net.Conn
	if err == nil {
		taken, err = net.Dial("tcp", "127.0.0.1:443")
	}
	if err != nil {
		listener.Close()
		return nil, err
	}
	return &takenListener{taken, listener}, nil
}

// takenListener is a connection, with which its listener is closed.
type takenListener struct {
	net.Conn
	listener *os.File
}

func (l *takenListener) Close() error { return errors.Join(l.Conn.Close(), l.listener.Close()) }
