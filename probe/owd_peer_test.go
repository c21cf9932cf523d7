package probe

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/peertest"
	"github.com/pathwise-net/pathwise/proto/stamp"
)

// strictReflector is a reflector of STAMP that judges what it gets by the RFCs. seen ends it.
func strictReflector(t *testing.T, key []byte) (port int, seen func() ([]peertest.STAMPPacket, error)) {
	t.Helper()
	socket, err := peertest.Listen(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var all []peertest.STAMPPacket
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		all, err = (&peertest.STAMPReflector{Key: key, Stateful: true}).Reflect(ctx, socket)
	}()
	t.Cleanup(func() { end(); <-ended; socket.Close() })
	return int(socket.Port), func() ([]peertest.STAMPPacket, error) { end(); <-ended; return all, err }
}

// What makes a packet longer than the least is one TLV of extra padding, as a strict reflector sees it, and answers come back.
func TestSTAMPPadding(t *testing.T) {
	for _, size := range []int{44, 48, 100, 1400} {
		for name, measureTo := range map[string]func(port int) measure.Prober{
			"owd": func(port int) measure.Prober {
				return OWD{Target: "127.0.0.1", Port: port, Count: 5, Interval: time.Millisecond, Size: size}
			},
			"ping": func(port int) measure.Prober {
				return Ping{Target: "127.0.0.1", Proto: protoSTAMP, Port: port, Count: 5, Interval: time.Millisecond, Size: size}
			},
		} {
			port, seen := strictReflector(t, nil)
			r, err := measureTo(port).Do(t.Context())
			if received, _ := r.Get(measure.ReceivedPackets); err != nil || received != 5 {
				t.Errorf("%s of %d bytes: %v received, %v", name, size, received, err)
			}
			packets, err := seen()
			if err != nil || len(packets) != 5 {
				t.Fatalf("%s of %d bytes: the reflector saw %d packets, %v", name, size, len(packets), err)
			}
			var want []int // lengths of values
			if size > stamp.LeastBytes {
				want = []int{size - stamp.LeastBytes - tlvHeader}
			}
			var got []int
			for _, tlv := range packets[4].TLVs {
				if tlv.Type == peertest.ExtraPadding {
					got = append(got, len(tlv.Value))
				}
			}
			if !slices.Equal(got, want) || len(packets[4].TLVs) != len(want) {
				t.Errorf("%s of %d bytes: padding of %v, want %v: %+v", name, size, got, want, packets[4].TLVs)
			}
		}
	}
	for _, size := range []int{43, 45, 47} {
		for _, p := range []method{&OWD{Target: "a", Size: size}, &Ping{Target: "a", Proto: protoSTAMP, Size: size}} {
			if p.Validate() == nil {
				t.Errorf("%T takes %d bytes, which have no room for the header of padding", p, size)
			}
		}
	}
}
