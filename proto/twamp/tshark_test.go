package twamp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/capturetest"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// tshark decodes the control connection and the test packets of the open mode without a complaint, numbers and all.
func TestDecodedByTshark(t *testing.T) {
	t.Parallel()
	const host = "127.0.0.18" // no other test has it
	at, _ := serving(t, host, &Server{Policy: endpoint.Policy{Modes: 1}})
	const packets = 5
	file := capturetest.During(t, host, func() {
		test, p := begun(t, Client{}, at, Terms{})
		for i := range uint32(packets) {
			p.send(t, p.packet(100+i))
			p.receive(t)
		}
		if err := test.Stop(); err != nil {
			t.Fatal(err)
		}
		test.Close()
	})
	said := capturetest.Decoded(t, file, "twamp.control", []string{fmt.Sprintf("tcp.port==%d,twamp.control", at.Port())},
		[]string{"twamp.control.modes", "twamp.control.command", "twamp.control.padding_length", "twamp.control.numsessions"})
	var all []string
	for _, p := range said {
		all = append(all, strings.Join(p, ","))
	}
	want := []string{"1,,,", ",,,", ",,,", ",5,27,", ",,,", ",2,,", ",,,", ",3,,1"}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("modes, command, padding and sessions of each message (-want +got):\n%s", diff)
	}
	test := capturetest.Decoded(t, file, "udp", []string{"udp.port==1-65535,twamp.test"},
		[]string{"udp.length", "_ws.col.Protocol", "twamp.test.seq_number", "twamp.test.sender_seq_number", "twamp.test.sender_ttl"})
	if len(test) != 2*packets {
		t.Fatalf("%d packets captured, want %d", len(test), 2*packets)
	}
	for i := range packets { // what it takes for more of a client's packet is padding
		asked, answered := test[2*i][:3], test[2*i+1]
		if diff := cmp.Diff([]string{"49", "TWAMP-Test", fmt.Sprint(100 + i)}, asked); diff != "" {
			t.Errorf("packet %d (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff([]string{"49", "TWAMP-Test", fmt.Sprint(i), fmt.Sprint(100 + i), "64"}, answered); diff != "" {
			t.Errorf("answer %d (-want +got):\n%s", i, diff)
		}
	}
}
