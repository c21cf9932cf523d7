package owamp

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

func idOf(t *testing.T, hexadecimal string) control.SID {
	t.Helper()
	b, err := hex.DecodeString(hexadecimal)
	if err != nil || len(b) != 16 {
		t.Fatal(hexadecimal, err)
	}
	return control.SID(b)
}

// The test vectors of RFC 4656, appendix B: the sum of a million deviates.
func TestDeviates(t *testing.T) {
	for id, want := range map[string]control.Interval{
		"2872979303ab47eeac028dab3829dab2": 0x000f4479bd317381,
		"0102030405060708090a0b0c0d0e0f00": 0x000f433686466a62,
		"deadbeefdeadbeefdeadbeefdeadbeef": 0x000f416c8884d2d3,
		"feed0feed1feed2feed3feed4feed5ab": 0x000f3f0b4b416ec8,
	} {
		d := NewSchedule(idOf(t, id), nil).deviates
		var sum control.Interval
		for range 1_000_000 {
			sum += d.next()
		}
		if sum != want {
			t.Errorf("%s: %#x, want %#x", id, uint64(sum), uint64(want))
		}
	}
}

// Slots take turns; an exponential one has its mean, and neither draws for a fixed one nor twice.
func TestSchedule(t *testing.T) {
	id := idOf(t, "2872979303ab47eeac028dab3829dab2")
	mixed := NewSchedule(id, []Slot{Fixed(time.Second), Exponential(time.Second), Fixed(0)})
	d := NewSchedule(id, nil).deviates
	var want control.Interval
	for i := range 300 {
		switch i % 3 {
		case 0:
			want += 1 << 32
		case 1:
			want += d.next()
		}
		if got := mixed.Next(); got != want.Duration() {
			t.Fatalf("packet %d is due after %v, want %v", i, got, want.Duration())
		}
	}
	terms := Terms{Packets: 100_000, Slots: []Slot{Exponential(100 * time.Millisecond)}}
	if got := terms.length(id); got < 9900*time.Second || got > 10_100*time.Second {
		t.Errorf("100,000 packets with a mean of 100 ms take %v", got)
	}
	if got := (Terms{Packets: 3, Slots: Periodic(time.Second, 3)}).length(id); got != 3*time.Second {
		t.Errorf("three packets with a second before each take %v", got)
	}
}
