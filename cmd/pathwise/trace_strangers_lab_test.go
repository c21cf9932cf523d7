package main

import (
	"encoding/binary"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/icmp"
)

// strangers send host a answers of their own to what comes to the router:
//
//	a .1 --- .2 r .5 --- .6 b        all 198.51.100., and 2001:db8:1:: and 2001:db8:2::
type strangers struct {
	t    *testing.T
	tap  int    // hears what comes from a
	raw  [2]int // send with any source, over IPv4 and IPv6
	sent int    // answers
}

// forgery makes answers to a packet that came to the router, each to be sent after a time.
type forgery func(packet []byte) []forged

type forged struct {
	after  time.Duration
	packet []byte
}

var (
	stranger = netip.MustParseAddr("203.0.113.66") // an address for documentation (RFC 5737)
	another  = netip.MustParseAddr("203.0.113.67")
	hostA    = netip.MustParseAddr("198.51.100.1")
	hostB    = netip.MustParseAddr("198.51.100.6")

	stranger6 = netip.MustParseAddr("2001:db8:66::66")
	hostA6    = netip.MustParseAddr("2001:db8:1::1")
)

const strangerSetup = `
add a; add r; add b
for r in a r b; do ip netns exec $p-$r sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'; done
pair a north 1 r south 2; pair r north 5 b south 6
ip netns exec $p-r sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip netns exec $p-a sh -c 'echo "0 2147483647" >/proc/sys/net/ipv4/ping_group_range; cd /proc/sys/net/ipv4; for f in conf/*/rp_filter; do echo 0 >$f; done'
ip -n $p-a route add default via 198.51.100.2; ip -n $p-b route add default via 198.51.100.5
for r in a r b; do ip netns exec $p-$r sh -c 'cd /proc/sys/net; echo 0 >ipv4/icmp_ratelimit; echo 100000 | tee ipv4/icmp_msgs_per_sec >ipv4/icmp_msgs_burst; echo 0 >ipv6/icmp/ratelimit; echo 1 >ipv6/conf/all/forwarding'; done
on() { ip -n $p-$1 addr add 2001:db8:$3 dev $2 nodad; }
on a north 1::1/64; on r south 1::2/64; on r north 2::5/64; on b south 2::6/64; on b south 2::7/64; ip -n $p-b addr add 198.51.100.13/32 dev south
ip -n $p-r route add 198.51.100.13/32 via 198.51.100.6
ip -n $p-a route add default via 2001:db8:1::2; ip -n $p-b route add default via 2001:db8:2::5
ip netns exec $p-r nft 'add table ip f; add chain ip f o {type filter hook output priority 0;}; add rule ip f o ip saddr 198.51.100.2 icmp type time-exceeded drop'
`

// newStrangers opens their sockets in the router's namespace.
func newStrangers(t *testing.T, k *kernelRouters) *strangers {
	t.Helper()
	s := &strangers{t: t}
	opened := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		opened <- func() error {
			there, err := os.Open("/run/netns/" + k.name + "-r")
			if err != nil {
				return err
			}
			defer there.Close()
			if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
				return err
			}
			if s.tap, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(htons(unix.ETH_P_ALL))); err != nil {
				return err
			}
			for i, family := range []int{unix.AF_INET, unix.AF_INET6} {
				if s.raw[i], err = unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_RAW); err != nil {
					return err
				}
			}
			return nil
		}()
	}()
	t.Cleanup(func() {
		for _, socket := range []int{s.tap, s.raw[0], s.raw[1]} {
			if socket > 0 {
				_ = unix.Close(socket)
			}
		}
	})
	if err := <-opened; err != nil {
		t.Fatal(err)
	}
	if err := unix.SetsockoptTimeval(s.tap, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 10000}); err != nil {
		t.Fatal(err)
	}
	return s
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }

// during answers what comes to the router while do runs.
func (s *strangers) during(forge forgery, do func()) {
	s.t.Helper()
	done := make(chan struct{})
	var late, all sync.WaitGroup
	all.Go(func() {
		buf := make([]byte, 2048)
		for {
			select {
			case <-done:
				return
			default:
			}
			n, from, err := unix.Recvfrom(s.tap, buf, 0)
			if sender, is := from.(*unix.SockaddrLinklayer); err != nil || !is || sender.Pkttype == unix.PACKET_OUTGOING || n < 28 {
				continue
			}
			for _, f := range forge(slices.Clone(buf[:n])) {
				late.Go(func() {
					if f.after > 0 {
						select {
						case <-time.After(f.after):
						case <-done:
						}
					}
					if err := s.send(f.packet); err != nil {
						s.t.Errorf("forge: %v", err)
					}
				})
				s.sent++
			}
		}
	})
	do()
	close(done)
	all.Wait()
	late.Wait()
}

func (s *strangers) send(packet []byte) error {
	if packet[0]>>4 == 6 {
		return unix.Sendto(s.raw[1], packet, 0, &unix.SockaddrInet6{Addr: hostA6.As16()})
	}
	return unix.Sendto(s.raw[0], packet, 0, &unix.SockaddrInet4{Addr: hostA.As4()})
}

// expiring has a forgery answer packets of IPv4 alone that came with a TTL of 1.
func expiring(forge forgery) forgery {
	return func(p []byte) []forged {
		if p[0]>>4 != 4 || p[8] != 1 {
			return nil
		}
		return forge(p)
	}
}

// expired is an ICMP "time exceeded" about a packet.
func expired(from netip.Addr, quote []byte) []byte {
	return ipPacket(from, unix.IPPROTO_ICMP, sealedICMP(append([]byte{11, 0, 0, 0, 0, 0, 0, 0}, quote...)))
}

func sealedICMP(b []byte) []byte {
	b[2], b[3] = 0, 0
	binary.BigEndian.PutUint16(b[2:], icmp.Checksum(b))
	return b
}

// ipPacket is one to host a; the kernel fills in length and checksum.
func ipPacket(from netip.Addr, protocol byte, data []byte) []byte {
	b := make([]byte, 20, 20+len(data))
	b[0], b[8], b[9] = 0x45, 64, protocol
	source, target := from.As4(), hostA.As4()
	copy(b[12:], source[:])
	copy(b[16:], target[:])
	return append(b, data...)
}

// changed is a packet with a bit of a byte turned.
func changed(packet []byte, at int) []byte {
	b := slices.Clone(packet)
	if at < len(b) {
		b[at] ^= 0x40
	}
	return b
}

// wrong are answers that look right but for one thing each. The packets of traces are 20 bytes of IP header, then 8 of UDP or ICMP, or a TCP header.
func wrong(p []byte) (all []forged) {
	send := func(packet []byte) { all = append(all, forged{packet: packet}) }
	const transport, token, id = 20, 28, 36
	spoilt := expired(stranger, p)
	spoilt[22] ^= 1
	send(spoilt) // its checksum
	switch p[9] {
	case unix.IPPROTO_UDP:
		send(expired(stranger, changed(p, token)))
		send(expired(stranger, changed(p, id)))                                // a probe that was not sent
		send(expired(stranger, changed(p[:28], transport+1)))                  // the source port
		send(expired(stranger, changed(p[:28], 15)))                           // the source
		send(ipPacket(hostB, unix.IPPROTO_UDP, changed(answerUDP(p), 1)))      // of the target, from another port
		send(ipPacket(stranger, unix.IPPROTO_UDP, answerUDP(p)))               // of another host
		send(expired(stranger, append(changed(p[:28], 16), p[28:token+4]...))) // to another target, with half a token
	case unix.IPPROTO_TCP:
		send(expired(stranger, changed(p, transport+4))) // the sequence number
		send(expired(stranger, changed(p[:28], transport+6)))
		send(expired(stranger, changed(p[:28], transport+3))) // the port
		rst := make([]byte, 20)
		copy(rst, p[transport+2:transport+4])
		copy(rst[2:], p[transport:transport+2])
		copy(rst[8:], p[transport+4:transport+8]) // it acknowledges what no probe has
		rst[8] ^= 0x40
		rst[12], rst[13] = 5<<4, 0x14
		send(ipPacket(hostB, unix.IPPROTO_TCP, rst))
	case unix.IPPROTO_ICMP:
		send(expired(stranger, changed(p[:28], transport+4))) // the identifier
		send(expired(stranger, changed(p, transport+6)))      // the sequence number
		reply := changed(p[transport:], token-transport)      // another token
		reply[0] = 0
		send(ipPacket(hostB, unix.IPPROTO_ICMP, sealedICMP(reply)))
	}
	return all
}

// wrongChecksum is the least quote of a packet of UDP that was not sent. The error queue shows no checksums.
func wrongChecksum(p []byte) []forged {
	const checksum = 26
	return []forged{{packet: expired(stranger, changed(p[:28], checksum))}}
}

// answerUDP is a packet back to the port that one came from, without what it had.
func answerUDP(p []byte) []byte {
	return append(append(slices.Clone(p[22:24]), p[20:22]...), 0, 12, 0, 0, 'w', 'h', 'o', '?')
}

// An answer that is not of a packet of the trace, or too late, or not the first, leaves no trace in a Result. That right ones are heard from
// whomever shows that they would be, had they been right.
func TestTraceStrangers(t *testing.T) {
	t.Parallel() // it waits more than it works
	carrying(t)
	k := newKernelRouters(t, strangerSetup, "a", "r", "b")
	s := newStrangers(t, k)
	everyMode := []string{"--proto udp", "--proto icmp", "--proto tcp", "nobody --proto udp", "nobody --proto icmp", "nobody --proto tcp"}
	const wait = 300 * time.Millisecond
	right := func(after time.Duration, from ...netip.Addr) forgery {
		return func(p []byte) (all []forged) {
			for i, address := range from {
				all = append(all, forged{after + time.Duration(i)*20*time.Millisecond, expired(address, p)})
			}
			return all
		}
	}
	for _, c := range []struct {
		name  string
		forge forgery
		flags []string
		want  []string // addresses of the first hop
	}{
		{"wrong", wrong, everyMode, []string{}},
		{"a wrong checksum in the least quote", wrongChecksum, []string{"--proto udp"}, []string{}},
		{"late", right(wait+100*time.Millisecond, stranger), everyMode, []string{}},
		{"right, then copies from elsewhere", right(0, stranger, another, another), everyMode, []string{stranger.String()}},
	} {
		before := s.sent
		s.during(expiring(c.forge), func() {
			var all sync.WaitGroup
			for _, flags := range c.flags {
				all.Go(func() {
					own, nobody := strings.CutPrefix(flags, "nobody ")
					argv := append([]string{lab.Self(), "trace", "--json", hostB.String(), "-W", wait.String()}, strings.Fields(own)...)
					if nobody {
						argv = asNobody(argv)
					}
					r := k.result(argv)
					if hops := r.Samples.Hops; len(hops) != 2 || !slices.Equal(hops[0].Addresses, c.want) || !slices.Equal(hops[1].Addresses, []string{hostB.String()}) ||
						len(c.want) == 0 && hops[0].Reply != "" {
						t.Errorf("%s, %s: %+v", c.name, flags, hops)
					}
					want := map[measure.Metric]float64{measure.HopCount: 2, measure.SentPackets: 6, measure.ReceivedPackets: 3 + 3*float64(len(c.want))}
					if diff := cmp.Diff(want, r.Metrics); diff != "" {
						t.Errorf("%s, %s: metrics (-want +got)\n%s", c.name, flags, diff)
					}
				})
			}
			all.Wait()
		})
		if sent := s.sent - before; sent < 3*len(c.flags) {
			t.Errorf("%s: only %d answers were forged", c.name, sent)
		}
	}
}
