package echo

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// controlMessage is one as the kernel lays it out (cmsg(3)).
func controlMessage(level, kind int, data []byte) []byte {
	b := binary.NativeEndian.AppendUint64(nil, uint64(unix.SizeofCmsghdr+len(data)))
	b = binary.NativeEndian.AppendUint32(b, uint32(level))
	b = append(binary.NativeEndian.AppendUint32(b, uint32(kind)), data...)
	return append(b, make([]byte, -len(b)&7)...)
}

func stampMessage(seconds, nanoseconds uint64) []byte {
	b := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, seconds), nanoseconds)
	return controlMessage(unix.SOL_SOCKET, unix.SO_TIMESTAMPING, append(b, make([]byte, 32)...))
}

func ttlMessage(ttl uint32) []byte {
	return controlMessage(unix.IPPROTO_IP, unix.IP_TTL, binary.NativeEndian.AppendUint32(nil, ttl))
}

// errorMessage is one of host unreachable, said by 192.0.2.9.
func errorMessage() []byte {
	b := append(binary.NativeEndian.AppendUint32(nil, uint32(unix.EHOSTUNREACH)), unix.SO_EE_ORIGIN_ICMP, 3, 1, 0)
	b = append(b, make([]byte, 8)...)
	b = append(binary.NativeEndian.AppendUint16(b, unix.AF_INET), 0, 0, 192, 0, 2, 9)
	return controlMessage(unix.IPPROTO_IP, unix.IP_RECVERR, append(b, make([]byte, 8)...))
}

func TestArrivalRead(t *testing.T) {
	var a arrival
	a.read(append(append(stampMessage(3, 7), ttlMessage(61)...), errorMessage()...))
	if a.kernel != 3_000_000_007 || a.ttl != 61 {
		t.Errorf("stamp %d, TTL %d; want 3000000007, 61", a.kernel, a.ttl)
	}
	a.peer = netip.MustParseAddr("198.51.100.1")
	got, ok := a.icmpError()
	want := sock.ICMPError{Type: 3, Code: 1, Offender: netip.MustParseAddr("192.0.2.9"), To: netip.AddrPortFrom(a.peer, 0), TTL: 61}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
		cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" || !ok {
		t.Errorf("%v; -want +got\n%s", ok, diff)
	}
	if _, ok := a.stampID(); ok {
		t.Error("an ICMP error is a stamp")
	}
}

// Whatever stands beside a packet, reading it ends, and what is cut short is absent.
func FuzzArrivalRead(f *testing.F) {
	f.Add(append(stampMessage(1, 2), ttlMessage(3)...))
	f.Add(errorMessage())
	f.Add(errorMessage()[:30])
	f.Fuzz(func(t *testing.T, control []byte) {
		var a arrival
		a.read(control)
		if a.ttl < 0 || a.ttl > 255 {
			t.Errorf("TTL %d", a.ttl)
		}
		if len(control) < unix.SizeofCmsghdr && (a.kernel != 0 || a.extended != unix.SockExtendedErr{}) {
			t.Errorf("%+v from %d bytes", a, len(control))
		}
		if rest := afterIPv4Header(control); len(rest) > max(0, len(control)-20) {
			t.Errorf("%d bytes after the header of %d", len(rest), len(control))
		}
	})
}
