package sock

import (
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestNumbering(t *testing.T) {
	var n numbering
	var kernel uint32
	want := map[uint32]uint32{} // by the kernel's number
	for i := range uint32(5 * mostRefusals) {
		if i%3 == 1 {
			for range 1 + i%2 {
				n.refuse()
				kernel++
			}
		}
		if id := n.sent(); id != i {
			t.Fatalf("packet %d is told to be %d", i, id)
		}
		want[kernel] = i
		kernel++
	}
	for number := range kernel {
		id, sent := n.of(number)
		if number > kernel-2*mostRefusals { // those of which runs are kept
			if expected, was := want[number]; sent != was || sent && id != expected {
				t.Errorf("number %d is of packet %d, %v; want %d, %v", number, id, sent, expected, was)
			}
		} else if sent && id != want[number] {
			t.Errorf("number %d is of packet %d, not %d", number, id, want[number])
		}
	}
	if len(n.runs) > mostRefusals {
		t.Errorf("%d runs are kept", len(n.runs))
	}
}

// A stamp is of its packet, whatever was refused before by the packet filter, by a queue or for want of a route.
func TestStampsBesideRefusals(t *testing.T) {
	var lacks string
	inNamespace(t, func() {
		for _, argv := range [][]string{
			{"nft", "add table inet f; add chain inet f o {type filter hook output priority 0;}; add rule inet f o meta mark 1 drop"},
			{"tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "1gbit", "burst", "3000", "limit", "3000"},
		} {
			if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
				lacks = fmt.Sprintf("%s refuses no packets here: %v: %s", argv[0], err, out)
				return
			}
		}
		for name, open := range map[string]func(netip.Addr) (*Socket, error){
			"UDP":      func(to netip.Addr) (*Socket, error) { return OpenUDP(to.Is6()) },
			"TCP":      func(to netip.Addr) (*Socket, error) { s, _, err := OpenSYN(netip.AddrPortFrom(to, 0)); return s, err },
			"raw ICMP": func(to netip.Addr) (*Socket, error) { return OpenRawEcho(to.Is6(), 0) },
		} {
			for _, to := range loopbacks {
				s, err := open(to)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				stampsBesideRefusals(t, name, s, to)
				s.Close()
			}
		}
	})
	if lacks != "" {
		t.Skip(lacks)
	}
}

func stampsBesideRefusals(t *testing.T, name string, s *Socket, to netip.Addr) {
	elsewhere := netip.MustParseAddr("192.0.2.1")
	if to.Is6() {
		elsewhere = netip.MustParseAddr("2001:db8::1")
	}
	send := func(bytes, mark int, to netip.Addr, want error) (id uint32, before time.Time) {
		if err := SetInt(s.conn, unix.SOL_SOCKET, unix.SO_MARK, mark); err != nil {
			t.Error(err)
		}
		id, before, err := s.Send(make([]byte, bytes), netip.AddrPortFrom(to, 9))
		if !errors.Is(err, want) {
			t.Errorf("%s to %v: %v, want %v", name, to, err, want)
		}
		return id, before
	}
	for i := range uint32(12) {
		switch i % 4 {
		case 1:
			send(20, 1, to, unix.EPERM)
		case 2:
			send(9000, 0, to, unix.ENOBUFS)
		case 3:
			send(20, 0, elsewhere, unix.ENETUNREACH)
		}
		id, before := send(20, 0, to, nil)
		if id != i {
			t.Errorf("%s to %v: packet %d is told to be %d", name, to, i, id)
		}
		for until := time.Now().Add(patience); ; {
			event, err := s.Receive(until)
			if err != nil {
				t.Errorf("%s to %v: no stamp of packet %d: %v", name, to, i, err)
				return
			}
			if sent, is := event.(Sent); is {
				if sent.ID != i || sent.Kernel.Before(before) {
					t.Errorf("%s to %v: a stamp of packet %d, %v after packet %d left", name, to, sent.ID, sent.Kernel.Sub(before), i)
				}
				break
			}
		}
	}
}
