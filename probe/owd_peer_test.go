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

// Packets ask for what has room, and what is beyond is one TLV of extra padding, as a strict reflector sees it, and answers come back.
func TestSTAMPPadding(t *testing.T) {
	const counters, follow = 4 + stamp.CountersBytes, 4 + stamp.FollowUpBytes
	for size, asks := range map[int][]int{0: {counters, follow}, 44: nil, 48: {4}, 59: {15}, 60: {counters}, 62: {18}, 64: {counters, 4}, 79: {counters, 19},
		80: {counters, follow}, 82: {counters, 22}, 84: {counters, follow, 4}, 1400: {counters, follow, 1320}} {
		for name, c := range map[string]struct {
			measureTo func(port int) measure.Prober
			want      []int // lengths of TLVs
		}{
			"owd": {func(port int) measure.Prober {
				return OWD{Target: "127.0.0.1", Port: port, Count: 5, Interval: time.Millisecond, Size: size}
			}, asks},
			"ping": {func(port int) measure.Prober {
				return Ping{Target: "127.0.0.1", Proto: protoSTAMP, Port: port, Count: 5, Interval: time.Millisecond, Size: max(44, size)}
			}, slices.DeleteFunc([]int{max(44, size) - 44}, func(n int) bool { return n == 0 })},
		} {
			port, seen := strictReflector(t, nil)
			r, err := c.measureTo(port).Do(t.Context())
			if received, _ := r.Get(measure.ReceivedPackets); err != nil || received != 5 {
				t.Errorf("%s of %d bytes: %v received, %v", name, size, received, err)
			}
			packets, err := seen()
			if err != nil || len(packets) != 5 {
				t.Fatalf("%s of %d bytes: the reflector saw %d packets, %v", name, size, len(packets), err)
			}
			var got []int
			for _, tlv := range packets[4].TLVs {
				got = append(got, 4+len(tlv.Value))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s of %d bytes: TLVs of %v bytes, want %v: %+v", name, size, got, c.want, packets[4].TLVs)
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
