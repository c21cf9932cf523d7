package probe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/stamp"
	"github.com/pathwise-net/pathwise/sock"
)

// Packets are counted by the marks that they left with and arrived with, each way, from any packet of a session on.
func TestMarksOf(t *testing.T) {
	came := func(class *stamp.Class, dscp, ecn int) owdPacket {
		return owdPacket{reflection: reflection{class: class}, received: sock.Stamp{User: time.Unix(1, 0)}, dscpBack: dscp, ecnBack: ecn}
	}
	ef, be := 46, 0
	kept, bleached := &stamp.Class{Wanted: ef, DSCP: ef}, &stamp.Class{Wanted: ef, Refused: true}
	packets := []owdPacket{ // from the fourth of a session on: of ef, ef, be, be, ef, ef
		came(kept, ef, 0), came(bleached, be, 0), came(&stamp.Class{ECN: 3}, be, 0), came(&stamp.Class{}, be, 1), {reflection: reflection{class: kept}}, came(nil, be, 0)}
	got := marksOf(packets, 3, []int{ef, be})
	want := []measure.Mark{
		{Direction: measure.Forward, Sent: &be, DSCP: be, Packets: 1}, {Direction: measure.Forward, Sent: &be, DSCP: be, ECN: 3, Packets: 1},
		{Direction: measure.Forward, Sent: &ef, DSCP: be, Packets: 1}, {Direction: measure.Forward, Sent: &ef, DSCP: ef, Packets: 1},
		{Direction: measure.Reverse, Sent: &be, DSCP: be, Packets: 2}, {Direction: measure.Reverse, Sent: &be, DSCP: be, ECN: 1, Packets: 1},
		{Direction: measure.Reverse, Sent: &ef, DSCP: ef, Packets: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var text strings.Builder
	marksText(&text, &measure.Result{Samples: measure.Samples{Marks: got[1:3]}})
	if want := "marks      1 packets with default forward came as they left, ECN 11\nmarks      1 packets with EF forward came with default\n"; text.String() != want {
		t.Errorf("%q, want %q", text.String(), want)
	}
}

// Packets without a mark ask nothing of it, so that they are as short as before.
func TestMarkedPackets(t *testing.T) {
	for _, c := range []struct {
		p    OWD
		size int
	}{{OWD{}, 80}, {OWD{DSCP: 46}, 88}, {OWD{Classes: "ef,be"}, 88}, {OWD{DSCP: 46, KeyFile: "f"}, 176}, {OWD{DSCP: 46, Proto: protoTWAMP}, 41}} {
		if got := c.p.withDefaults().Size; got != c.size {
			t.Errorf("%+v: %d bytes, want %d", c.p, got, c.size)
		}
	}
}
