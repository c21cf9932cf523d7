package sock

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const testLabel = 0x2beef

// A connection arrives with the label.
func TestConnectFlow(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here:", err)
	}
	defer l.Close()
	to := l.Addr().(*net.TCPAddr).AddrPort()
	for range 2 { // programs may share a label
		d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error { return ConnectFlow(c, to, testLabel) }}
		conn, err := d.Dial("tcp", to.String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		came, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer came.Close()
		raw, err := came.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		const remote = 8 // IPV6_FL_F_REMOTE of linux/in6.h
		r := flowRequest{flags: remote}
		_, err = control(raw, func(fd int) (struct{}, error) {
			bytes := uint32(unsafe.Sizeof(r))
			_, _, failed := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_IPV6, flowLabelManager, uintptr(unsafe.Pointer(&r)),
				uintptr(unsafe.Pointer(&bytes)), 0)
			if failed != 0 {
				return struct{}{}, failed
			}
			return struct{}{}, nil
		})
		if label := binary.BigEndian.Uint32(r.label[:]) & MaxFlowLabel; err != nil || label != testLabel {
			t.Errorf("the connection came with the label %#x (%v)", label, err)
		}
	}
}

func TestConnectFlowOfDatagrams(t *testing.T) {
	there, err := net.ListenUDP("udp6", &net.UDPAddr{IP: net.IPv6loopback})
	if err != nil {
		t.Skip("no IPv6 here:", err)
	}
	defer there.Close()
	raw, err := there.SyscallConn()
	if err == nil {
		const tellFlow = 11 // IPV6_FLOWINFO of linux/in6.h
		err = SetInt(raw, unix.IPPROTO_IPV6, tellFlow, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	to := there.LocalAddr().(*net.UDPAddr).AddrPort()
	conn, err := net.DialUDP("udp6", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if raw, err = conn.SyscallConn(); err == nil {
		err = ConnectFlow(raw, to, testLabel)
	}
	if err == nil {
		_, err = conn.Write([]byte("x"))
	}
	if err != nil {
		t.Fatal(err)
	}
	beside := make([]byte, 100)
	_, n, _, _, err := there.ReadMsgUDPAddrPort(make([]byte, 9), beside)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := unix.ParseSocketControlMessage(beside[:n])
	if err != nil || len(messages) != 1 || binary.BigEndian.Uint32(messages[0].Data)&MaxFlowLabel != testLabel {
		t.Errorf("the datagram came with %v (%v)", messages, err)
	}
}

func TestConnectFlowRefuses(t *testing.T) {
	for to, label := range map[string]int{"127.0.0.1:9": 1, "[::1]:9": 0, "[::2]:9": MaxFlowLabel + 1} {
		if err := ConnectFlow(nil, netip.MustParseAddrPort(to), label); err == nil || !strings.Contains(err.Error(), "flow label") {
			t.Errorf("%s, label %d: %v", to, label, err)
		}
	}
}
