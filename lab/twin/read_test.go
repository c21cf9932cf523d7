package twin

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

func TestRead(t *testing.T) {
	one, err := json.Marshal(ping(0.02))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		string(one): 1,
		`{"schema": "pathwise.results/1", "results": [` + string(one) + "," + string(one) + `]}`: 2,
		`{"schema": "pathwise.diagnosis/1", "results": [` + string(one) + `]}`:                   1,
		`{"schema": "pathwise.result/1", "kind": "ping", "metrics": {"rtt_min_seconds": 0.02}}`:  1,
		`{"schema": "pathwise.truth/1"}`: 0,
		`{"results": [{"schema": "x"}]}`: 0,
		`{"results": [null]}`:            0,
		`[]`:                             0,
		`hosts: {}`:                      0,
		`{"schema": "pathwise.result/2", "metrics": 3}`: 0,
	} {
		results, err := Read("x.json", []byte(text))
		if len(results) != want || (err == nil) != (want > 0) {
			t.Errorf("%.60s: %d results, %v; want %d", text, len(results), err, want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "x.json: ") {
			t.Errorf("%.60s: %v does not name the file", text, err)
		}
	}
}

// No document crashes the way from text to lab, and every lab that comes out can be read.
func FuzzFromDocument(f *testing.F) {
	for _, r := range []*measure.Result{ping(0.02, 0.03, math.NaN()), trace(hop(1, "", 0.1), hop(2, "198.51.100.1", 0.2)),
		transfer(false, 1e6, map[string]float64{"min_rtt_seconds": 0.02, "rtt_seconds": 0.08, "pmtu_bytes": 1400})} {
		text, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		results, err := Read("x.json", text)
		if err != nil {
			return
		}
		twin, err := FromResults(results)
		if err != nil {
			return
		}
		if _, err := twin.Spec(); err != nil {
			t.Fatalf("%v in:\n%s", err, twin.YAML())
		}
	})
}
