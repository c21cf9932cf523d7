package stamp

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/capturetest"
)

// tshark 4.0 has no dissector of STAMP. That of TWAMP's test packets decodes answers of the unauthenticated mode without a complaint, numbers and
// all, since they are the same up to the TTL; it takes what follows, and all beyond the session of a probe, for padding.
func TestDecodedByTshark(t *testing.T) {
	t.Parallel()
	const host = "127.0.0.19" // no other test has it
	at := reflecting(t, &Reflector{}, host+":0")
	const packets = 5
	file := capturetest.During(t, host, func() {
		conn := sender(t, host+":0")
		for i := range uint32(packets) {
			packet := AppendTLV(make([]byte, LeastBytes), TLV{ClassOfService, make([]byte, 4)})
			Probe{Sequence: 100 + i, Error: 1}.Put(packet)
			ask(t, conn, netip.AddrPortFrom(netip.MustParseAddr(host), at.Port()), packet)
		}
	})
	got := capturetest.Decoded(t, file, fmt.Sprintf("udp.srcport == %d and udp.length == %d", at.Port(), 8+LeastBytes+8),
		[]string{"udp.port==1-65535,twamp.test"},
		[]string{"_ws.col.Protocol", "twamp.test.seq_number", "twamp.test.sender_seq_number", "twamp.test.sender_ttl"})
	var want [][]string
	for i := range packets {
		want = append(want, []string{"TWAMP-Test", fmt.Sprint(i), fmt.Sprint(100 + i), "64"})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
