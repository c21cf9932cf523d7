package diagnose

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// Results of a real transfer to a host without selective acknowledgements, over 50 Mbit/s and 40 ms: while one segment after the
// other was mended, the kernel booked the time to the receiver's window, which allowed many times what was achieved.
func TestWindowThatHoldsAndIsNoLimit(t *testing.T) {
	text, err := os.ReadFile("testdata/without-sack.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Results []*measure.Result `json:"results"`
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	d := Diagnose(recorded.Results)
	if d.Verdict != "no-sack" || outcome(d, "receive-window-limited") != Refuted {
		t.Errorf("verdict %s, and the window is %s", d.Verdict, outcome(d, "receive-window-limited"))
	}
	if held := gather(recorded.Results).ways[measure.Forward].Value(ReceiveWindowShare); held < 0.5 {
		t.Errorf("the window held the sender for %v of the time: this shows nothing", held)
	}
}
