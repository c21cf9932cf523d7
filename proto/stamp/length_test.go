package stamp

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An answer is as long as it was asked to be, but never longer than what asked for it, nor shorter than what has to be in it.
func TestControl(t *testing.T) {
	t.Parallel()
	at := reflecting(t, &Reflector{}, "127.0.0.1:0")
	conn := sender(t, "127.0.0.1:0")
	const least = LeastBytes + tlvHead + ControlBytes
	for _, c := range []struct {
		probe, ask, want int
		refused          bool
	}{
		{1000, least, least, false},
		{1000, 500, 500, false},
		{1000, 1000, 1000, false},
		{1000, 1001, 1000, true},
		{1000, 10, least, false},
		{1000, least + 2, least, false}, // no room for the head of padding
		{least, least, least, false},
		{1000, 0, 1000, false},
	} {
		value := make([]byte, ControlBytes)
		Control{Bytes: c.ask}.Put(value)
		packet := AppendTLV(make([]byte, LeastBytes, c.probe), TLV{ReflectedControl, value})
		if padding := c.probe - len(packet) - tlvHead; padding >= 0 {
			packet = AppendTLV(packet, TLV{ExtraPadding, make([]byte, padding)})
		}
		Probe{Sequence: 7, Session: 5}.Put(packet)
		answer, _ := ask(t, conn, netip.AddrPort(at), packet)
		got := struct {
			Bytes   int
			Refused bool
		}{len(answer), len(answer) > LeastBytes && answer[LeastBytes]&notAsAsked != 0}
		want := got
		want.Bytes, want.Refused = c.want, c.refused
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d bytes, answer with %d (-want +got):\n%s", c.probe, c.ask, d)
		}
		if tlvs, err := NewSealer(nil).OpenTLVs(answer); err != nil || len(tlvs) == 0 || tlvs[0].Type != ReflectedControl {
			t.Errorf("%d bytes, answer with %d: %v, %v", c.probe, c.ask, tlvs, err)
		}
	}
}
