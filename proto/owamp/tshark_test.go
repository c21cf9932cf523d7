package owamp

import (
	"fmt"
	"testing"

	"github.com/pathwise-net/pathwise/proto/capturetest"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// Captured packets of every mode have their lengths, and tshark decodes those of the open mode without a complaint, numbers and all.
func TestDecodedByTshark(t *testing.T) {
	t.Parallel()
	const host = "127.0.0.17" // no other test has it
	at, _ := serving(t, host, endpoint.Policy{Keys: keys})
	for _, mode := range []control.Mode{control.Open, control.Authenticated, control.Encrypted} {
		terms := short(10)
		var r *Report
		file := capturetest.During(t, host, func() {
			var err error
			r, err = measured(t, Client{Mode: mode, KeyID: "ann", Secret: keys["ann"]}, at, Plan{Forward: terms, Reverse: terms})
			if err != nil {
				t.Fatal(err)
			}
		})
		decoded := "data" // what is encrypted would be taken for any protocol whose first bytes fit
		if mode == control.Open {
			decoded = "owamp.test"
		}
		packets := capturetest.Decoded(t, file, "udp", []string{"udp.port==1-65535," + decoded}, []string{"udp.length", "_ws.col.Protocol", "twamp.test.seq_number"})
		for _, p := range packets {
			if p[0] != fmt.Sprint(8+control.PacketBytes(mode, terms.Padding)) || mode == control.Open && (p[1] != "OWAMP-Test" || p[2] == "") {
				t.Errorf("%v: %q", mode, p)
			}
		}
		if sent := len(r.Forward.Records) + len(r.Reverse.Records); len(packets) != sent {
			t.Errorf("%v: %d packets captured, %d sent", mode, len(packets), sent)
		}
	}
}
