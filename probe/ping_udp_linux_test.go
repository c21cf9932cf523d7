package probe

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// echoService sends each datagram back to whom it came from, twice if it is said, and returns its port.
func echoService(t *testing.T, network, address string) int {
	t.Helper()
	conn, err := net.ListenPacket(network, net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for packet := make([]byte, 65536); ; {
			n, from, err := conn.ReadFrom(packet)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			_, _ = conn.WriteTo(packet[:n], from)
		}
	}()
	t.Cleanup(func() { conn.Close(); <-ended })
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// Datagrams are answered by an echo service, by a kernel which says that nobody listens, and by a reflector, all by the kernel's stamps.
func TestPingDatagrams(t *testing.T) {
	ports := map[string]int{"127.0.0.1": echoService(t, "udp4", "127.0.0.1"), "::1": echoService(t, "udp6", "::1")}
	for target, service := range ports {
		closed := freeUDPPort(t, target)
		for name, p := range map[string]Ping{
			"echo":      {Proto: protoUDP, Port: service, Size: 1400, DontFragment: true, DSCP: 46},
			"nobody":    {Proto: protoUDP, Port: closed},
			"reflector": {Proto: protoSTAMP, Port: farEnd{}.serve(t), Size: 200},
		} {
			if name == "reflector" && target == "::1" {
				continue // it serves one family
			}
			p.Target, p.Count, p.Interval = target, 20, time.Millisecond
			r, err := p.Do(t.Context())
			received, _ := r.Get(measure.ReceivedPackets)
			rtt, _ := r.Get(measure.RTTMedian)
			if err != nil || received != 20 || rtt <= 0 || rtt > 0.1 || r.Parameters["stamps"] != "kernel" {
				t.Errorf("%s at %s: %v received, median %v, stamps by %v, %v", name, target, received, rtt, r.Parameters["stamps"], err)
			}
			want := any(nil)
			if name == "nobody" {
				want = "port unreachable"
			}
			if r.Parameters["answers"] != want {
				t.Errorf("%s at %s: answers %v, want %v", name, target, r.Parameters["answers"], want)
			}
		}
	}
}

// freeUDPPort is a port of an address on which nobody listens.
func freeUDPPort(t *testing.T, address string) int {
	conn, err := net.ListenPacket("udp", net.JoinHostPort(address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// The time for which a reflector says that it held a packet is not of the round trip, which is never less than none.
func TestPingHeld(t *testing.T) {
	port := farEnd{holds: time.Second}.serve(t)
	r, err := Ping{Target: "127.0.0.1", Proto: protoSTAMP, Port: port, Count: 3, Interval: time.Millisecond}.Do(t.Context())
	if rtt, any := r.Get(measure.RTTMax); err != nil || !any || rtt != 0 {
		t.Errorf("longest round trip %v s by a reflector that held each for longer than it took: %v", rtt, err)
	}
}

// Requests above 10,000 a second are told apart when their sequence numbers have come round.
func TestPingQuick(t *testing.T) {
	needEcho(t, false)
	for _, p := range []Ping{{}, {Proto: protoUDP, Port: echoService(t, "udp4", "127.0.0.1")}} {
		p.Target, p.Count, p.Interval, p.Timeout = "127.0.0.1", 2000, 20*time.Microsecond, time.Second
		r, err := p.Do(t.Context())
		if sent, _ := r.Get(measure.SentPackets); err != nil || sent != 2000 || r.DurationSeconds > 2 {
			t.Errorf("%s: %v sent in %v s, %v", p.Proto, sent, r.DurationSeconds, err)
		}
	}
}

func TestLimited(t *testing.T) {
	for text, want := range map[string]bool{
		"......xxxxxxxxxx": true,  // a burst, and nothing for the rest of a second
		"......xxxx.xxxxx": true,  // one after a second
		"......xxxx..xxxx": false, // two, one after the other
		"..x..x..xx.xx...": false,
		"................": false,
		"......x.........": false,
		"..xxxxxxxxxxxxxx": false, // fewer than Linux gives at once
	} {
		var sent []float64
		var lost []bool
		for i, fate := range text {
			sent, lost = append(sent, 0.1*float64(i)), append(lost, fate == 'x')
		}
		if got := limited(sent, lost); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// Each packet's payload says which request it is of, long after sequence numbers have come round, and no other's token is taken for ours.
func TestPingIndex(t *testing.T) {
	const last = 200_000
	token := []byte("8 bytes!")
	for name, packets := range map[string]pingPackets{"udp": &udpPackets{token}, "icmp": &echoPackets{token: token}} {
		packet := packets.request(131_073, 12)
		if name == "icmp" {
			packet[0] = echoReply4
		}
		if index, ok := packets.answered(packet, netip.Addr{}, last); index != 131_073 || !ok {
			t.Errorf("%s: request %d, %v; want 131073", name, index, ok)
		}
		if _, ok := packets.answered(packet, netip.Addr{}, 100); ok {
			t.Errorf("%s: an answer to a request that was not sent yet", name)
		}
		packet[len(packet)-12] ^= 1
		if _, ok := packets.answered(packet, netip.Addr{}, last); ok {
			t.Errorf("%s: another's token was taken", name)
		}
	}
	u := &udpPackets{token}
	if index, ok := u.quoted(nil, 3); index != 2 || !ok {
		t.Errorf("an error that quotes headers alone: request %d, %v; want the latest", index, ok)
	}
	if diff := cmp.Diff(12, len(u.request(0, 12))); diff != "" {
		t.Error(diff)
	}
}
