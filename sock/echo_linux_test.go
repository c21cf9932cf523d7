package sock

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Where the kernel lets everyone, the socket is a datagram one; where it lets nobody, root gets a raw one.
func TestOpenEchoChoice(t *testing.T) {
	inNamespace(t, func() {
		for _, raw := range []bool{true, false} { // a new namespace allows nobody, not even root
			if !raw {
				if err := os.WriteFile("/proc/sys/net/ipv4/ping_group_range", []byte("0 0"), 0); err != nil {
					t.Error(err)
					return
				}
			}
			for _, address := range loopbacks {
				s, err := OpenEcho(address.Is6())
				if err != nil {
					t.Errorf("want raw %v, %s: %v", raw, address, err)
					continue
				}
				if s.Raw() != raw {
					t.Errorf("%s: raw %v, want %v", address, s.Raw(), raw)
				}
				echoOnce(t, s, address)
				s.Close()
			}
		}
	})
}

// One whom the kernel allows nothing is told what would help.
func TestOpenEchoDenied(t *testing.T) {
	inNamespace(t, func() {
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var none [2]unix.CapUserData
		if err := unix.Capset(&header, &none[0]); err != nil { // of this thread, which ends with f
			t.Error(err)
			return
		}
		for _, address := range loopbacks {
			_, err := OpenEcho(address.Is6())
			var denied *PermissionError
			if !errors.As(err, &denied) || !strings.Contains(err.Error(), "ping_group_range") {
				t.Errorf("%s: %v; want a permission error with a remedy", address, err)
			}
		}
	})
}

// echoOnce sends one echo request and checks the stamps of it and of its reply.
func echoOnce(t *testing.T, s *Socket, to netip.Addr) {
	t.Helper()
	if _, _, err := s.Send(echoRequest(s, 1), netip.AddrPortFrom(to, 0)); err != nil {
		t.Error(err)
		return
	}
	event, err := s.Receive(time.Now().Add(patience))
	if sent, ok := event.(Sent); !ok || sent.ID != 0 || sent.Kernel.IsZero() {
		t.Errorf("%s, raw %v: %#v, %v; want the stamp of packet 0", to, s.Raw(), event, err)
	}
	event, err = s.Receive(time.Now().Add(patience))
	packet, ok := event.(Packet)
	if !ok || !isReply(packet.Data, s, 1) || len(packet.Data) != 8 || packet.TTL == 0 {
		t.Errorf("%s, raw %v: %#v, %v; want an echo reply", to, s.Raw(), event, err)
	}
}

// echoRequest is a request without payload, as s must send it: the kernel sets the identifier of a datagram socket, and
// all checksums of ICMPv6.
func echoRequest(s *Socket, sequence uint16) []byte {
	if s.ipv6 {
		return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{128, 0, 0, 0}, s.Ident()), sequence)
	}
	sum := 0x0800 + uint32(s.Ident()) + uint32(sequence) // RFC 1071
	sum = sum>>16 + sum&0xffff
	packet := binary.BigEndian.AppendUint16([]byte{8, 0}, ^uint16(sum>>16+sum))
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(packet, s.Ident()), sequence)
}

// isReply says whether packet answers echoRequest.
func isReply(packet []byte, s *Socket, sequence uint16) bool {
	kind := byte(0)
	if s.ipv6 {
		kind = 129
	}
	return len(packet) >= 8 && packet[0] == kind && packet[1] == 0 && binary.BigEndian.Uint16(packet[6:]) == sequence &&
		(!s.raw || binary.BigEndian.Uint16(packet[4:]) == s.Ident())
}

// openRaw opens raw echo sockets in a namespace that allows no others, closed when the test ends.
func openRaw(t testing.TB, ipv6 bool, n int) []*Socket {
	t.Helper()
	sockets := make([]*Socket, n)
	for i := range sockets {
		s, err := OpenEcho(ipv6)
		if err != nil {
			t.Errorf("IPv6 %v: %v", ipv6, err)
			return nil
		}
		t.Cleanup(func() { s.Close() })
		if sockets[i] = s; !s.Raw() {
			t.Errorf("IPv6 %v: not raw", ipv6)
		}
	}
	return sockets
}

// pingRound lets each socket in turn send a request and wait for its reply. It returns how many packets the kernel gave
// them meanwhile, whoever they were for.
func pingRound(t testing.TB, sockets []*Socket, to netip.Addr, sequence uint16) (given int) {
	t.Helper()
	for _, s := range sockets {
		if _, _, err := s.Send(echoRequest(s, sequence), netip.AddrPortFrom(to, 0)); err != nil {
			t.Error(err)
			return given
		}
		for answered := false; !answered; {
			event, err := s.Receive(time.Now().Add(patience))
			if err != nil {
				t.Errorf("%s, sequence %d: %v; want a reply", to, sequence, err)
				return given
			}
			if packet, ok := event.(Packet); ok {
				given++
				answered = isReply(packet.Data, s, sequence)
			}
		}
	}
	return given
}

// leftOver counts the packets that wait in the queue.
func leftOver(t testing.TB, s *Socket) (packets int) {
	t.Helper()
	for {
		event, err := control(s.conn, s.poll)
		if errors.Is(err, unix.EAGAIN) {
			return packets
		}
		if err != nil {
			t.Error(err)
			return packets
		}
		if _, ok := event.(Packet); ok {
			packets++
		}
	}
}

func detachFilter(t testing.TB, s *Socket) {
	t.Helper()
	if err := SetInt(s.conn, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0); err != nil {
		t.Error(err)
	}
}

// Each of several raw sockets is given the replies to its own requests and no others: neither those to the others nor,
// as loopback is both ends, the requests. That the count means something shows when the filters are gone.
func TestRawEchoOwnReplies(t *testing.T) {
	const n, rounds = 4, 10
	inNamespace(t, func() {
		for _, address := range loopbacks {
			sockets := openRaw(t, address.Is6(), n)
			given := func(from uint16) (packets int) {
				for sequence := from; sequence < from+rounds && !t.Failed(); sequence++ {
					packets += pingRound(t, sockets, address, sequence)
				}
				for _, s := range sockets {
					packets += leftOver(t, s)
				}
				return packets
			}
			if packets := given(0); packets != n*rounds {
				t.Errorf("%s: the kernel gave %d packets for %d replies", address, packets, n*rounds)
			}
			for _, s := range sockets {
				detachFilter(t, s)
			}
			if packets := given(rounds); packets <= n*rounds {
				t.Errorf("%s: without filters: %d packets for %d replies; want more", address, packets, n*rounds)
			}
		}
	})
}

// What comes before the filter is dropped when it is attached.
func TestRawEchoQueuedBefore(t *testing.T) {
	inNamespace(t, func() {
		for _, address := range loopbacks {
			protocol := unix.IPPROTO_ICMP
			if address.Is6() {
				protocol = unix.IPPROTO_ICMPV6
			}
			late, err := open(address.Is6(), unix.SOCK_RAW, protocol)
			if err != nil {
				t.Error(err)
				continue
			}
			defer late.Close()
			pingRound(t, openRaw(t, address.Is6(), 1), address, 1)
			length, err := getInt(late.conn, unix.SOL_SOCKET, unix.SO_MEMINFO)
			if err != nil || length == 0 { // the first of its numbers: bytes that are queued
				t.Errorf("%s: %d bytes came before the filter, %v; want some", address, length, err)
			}
			if _, err := control(late.conn, late.onlyOwnReplies); err != nil {
				t.Error(err)
			}
			if packets := leftOver(t, late); packets != 0 {
				t.Errorf("%s: %d packets are left from before the filter", address, packets)
			}
		}
	})
}

// The IPv4 header is as long as its options make it.
func TestRawEchoIPOptions(t *testing.T) {
	inNamespace(t, func() {
		for _, s := range openRaw(t, false, 1) {
			recordRoute := "\x07\x07\x04\x00\x00\x00\x00\x00" // RFC 791, 3.1: type, length, pointer, one address; end
			_, err := control(s.conn, func(fd int) (struct{}, error) {
				return struct{}{}, unix.SetsockoptString(fd, unix.IPPROTO_IP, unix.IP_OPTIONS, recordRoute)
			})
			if err != nil {
				t.Error(err)
			}
			pingRound(t, []*Socket{s}, loopbacks[0], 1)
		}
	})
}

// Errors about requests of a raw socket come through its filter: here of a host that does not answer its neighbours.
func TestRawEchoErrors(t *testing.T) {
	inNamespace(t, func() {
		if err := silentNeighbours("192.0.2.1/24", "2001:db8::1/64"); err != nil {
			t.Error(err)
			return
		}
		for _, address := range []string{"192.0.2.2", "2001:db8::2"} {
			to := netip.MustParseAddr(address)
			for _, s := range openRaw(t, to.Is6(), 1) {
				request := echoRequest(s, 1)
				if _, _, err := s.Send(request, netip.AddrPortFrom(to, 0)); err != nil {
					t.Error(err)
				}
				event, err := s.Receive(time.Now().Add(patience))
				if e, ok := event.(ICMPError); !ok || e.Reason() != HostUnreachable || e.To.Addr() != to ||
					!slices.Equal(e.Quoted[4:], request[4:]) { // but for the checksum of ICMPv6
					t.Errorf("%s: %+v, %v; want host unreachable about % x", to, event, err, request)
				}
			}
		}
	})
}

// silentNeighbours makes an interface with addresses, on whose networks nobody answers.
func silentNeighbours(addresses ...string) error {
	ends := []netlink.Link{&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "silent"}, PeerName: "peer"},
		&netlink.Dummy{LinkAttrs: netlink.LinkAttrs{Name: "peer"}}}
	if err := netlink.LinkAdd(ends[0]); err != nil {
		return err
	}
	for _, end := range ends {
		link, err := netlink.LinkByName(end.Attrs().Name)
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(link); err != nil {
			return err
		}
	}
	for _, family := range []string{"ipv4", "ipv6"} { // asks three times, so long after one another
		if err := os.WriteFile("/proc/sys/net/"+family+"/neigh/silent/retrans_time_ms", []byte("10"), 0); err != nil {
			return err
		}
	}
	for _, address := range addresses {
		ip, network, err := net.ParseCIDR(address)
		if err != nil {
			return err
		}
		network.IP = ip
		if err := netlink.AddrAdd(ends[0], &netlink.Addr{IPNet: network, Flags: unix.IFA_F_NODAD}); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkRawEcho is one request and its reply on each of so many raw sockets in turn, with their filters and without.
func BenchmarkRawEcho(b *testing.B) {
	for _, filter := range []bool{true, false} {
		for _, n := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("filter=%v/sockets=%d", filter, n), func(b *testing.B) {
				inNamespace(b, func() { benchmarkRawEcho(b, filter, n) })
			})
		}
	}
}

func benchmarkRawEcho(b *testing.B, filter bool, n int) {
	sockets := openRaw(b, false, n)
	for _, s := range sockets {
		if !filter {
			detachFilter(b, s)
		}
	}
	rounds, given := 0, 0
	before := processorTime(b)
	for b.Loop() {
		given += pingRound(b, sockets, loopbacks[0], uint16(rounds))
		rounds++
	}
	replies := float64(rounds * n)
	b.ReportMetric(float64(processorTime(b)-before)/replies, "cpu-ns/reply")
	b.ReportMetric(float64(given)/replies, "packets/reply")
}

// processorTime is what this process has used, in it and in the kernel.
func processorTime(t testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Error(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
