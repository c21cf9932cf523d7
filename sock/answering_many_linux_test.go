package sock

import (
	"net/netip"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What replies to who asked, by a call of its own, comes from the address that was asked and with its mark, over IPv4 and IPv6.
func TestReplies(t *testing.T) {
	a, err := ListenAnswering(t.Context(), ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, host := range []string{"127.0.0.1", "::1"} {
		peer, err := ListenAnswering(t.Context(), netip.AddrPortFrom(netip.MustParseAddr(host), 0).String())
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Close()
		local := netip.MustParseAddr(host)
		r, err := a.Replies(Asked{From: netip.MustParseAddrPort(peer.Addr().String()), Local: local})
		if err != nil {
			t.Fatal(err)
		}
		for _, tos := range []int{0, 46 << 2} {
			control, data := r.Control(tos), []byte("reply")
			one := unix.Iovec{Base: &data[0]}
			one.SetLen(len(data))
			m := unix.Msghdr{Name: &r.Name[0], Namelen: uint32(len(r.Name)), Iov: &one, Control: &control[0]}
			m.SetIovlen(1)
			m.SetControllen(len(control))
			if err := r.Socket.Control(func(fd uintptr) {
				if _, _, errno := unix.Syscall(unix.SYS_SENDMSG, fd, uintptr(unsafe.Pointer(&m)), 0); errno != 0 {
					t.Fatal(errno)
				}
			}); err != nil {
				t.Fatal(err)
			}
			if got, err := peer.Receive(); err != nil || got.TOS != tos || got.From.Addr() != local || string(got.Data) != "reply" {
				t.Errorf("%s: %+v, %v", host, got, err)
			}
		}
	}
}
