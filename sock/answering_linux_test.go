package sock

import (
	"net/netip"
	"testing"
	"time"
)

// The kernel tells of each answer that is to be stamped when it left, by the ID, over IPv4 and IPv6, and IDs and stamps agree again after an answer that
// could not be sent.
func TestAnswersAreStamped(t *testing.T) {
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
		defer time.AfterFunc(10*time.Second, peer.Interrupt).Stop()
		to := Asked{From: netip.MustParseAddrPort(peer.Addr().String())}
		nowhere := Asked{From: to.From, Local: netip.MustParseAddr("192.0.2.1")} // which this host does not have
		if to.From.Addr().Is6() {
			nowhere.Local = netip.MustParseAddr("2001:db8::1")
		}
		if _, err := a.AnswerStamped([]byte("lost"), nowhere, 0); err == nil {
			t.Fatalf("%s: an answer left from %v", host, nowhere.Local)
		}
		for want := range uint32(5) {
			if err := a.Answer([]byte("without"), to, 0); err != nil {
				t.Fatal(err)
			}
			before := time.Now()
			id, err := a.AnswerStamped([]byte("with"), to, 46<<2)
			if err != nil {
				t.Fatal(err)
			}
			for _, tos := range []int{0, 46 << 2} {
				if got, err := peer.Receive(); err != nil || got.TOS != tos {
					t.Errorf("%s: it came with %#x (%v), want %#x", host, got.TOS, err, tos)
				}
			}
			sent, told := a.Left()
			if !told || id != want || sent.ID != want || sent.Kernel.Before(before) || sent.Kernel.After(time.Now()) {
				t.Errorf("%s: answer %d of ID %d: %+v, %v", host, want, id, sent, told)
			}
			if again, told := a.Left(); told {
				t.Errorf("%s: %+v besides", host, again)
			}
		}
	}
}
