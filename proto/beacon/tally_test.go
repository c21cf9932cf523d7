package beacon

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = int64(time.Millisecond)

// came makes arrivals of probes that were sent each 100 ms from time 0 on by a clock that is an hour ahead of the receiver's; each is its number and
// the delay in ms.
func came(probes ...[2]int64) (s stream) {
	const ahead = int64(time.Hour)
	s = stream{began: ahead, interval: 100 * time.Millisecond}
	for _, p := range probes {
		sent := p[0] * 100 * ms
		s.arrivals = append(s.arrivals, arrival{sequence: uint32(p[0]), sent: sent + ahead, at: sent + p[1]*ms, hops: 3})
		s.known = max(s.known, uint32(p[0]+1))
	}
	return s
}

func TestJudge(t *testing.T) {
	const hour = time.Hour
	for name, c := range map[string]struct {
		stream       stream
		known        uint32 // 0: up to the last that came
		since, until int64  // in ms
		want         Figures
	}{
		"all came": {stream: came([2]int64{0, 10}, [2]int64{1, 12}, [2]int64{2, 10}), until: 1000,
			want: Figures{To: 3, Received: 3, Hops: 3, HopsMost: 3, Delay: Delay{10e6 - hour, 10e6 - hour, 12e6 - hour}, Variation: Variation{2e6, 2e6}}},
		"lost, copied and reordered": {stream: came([2]int64{0, 10}, [2]int64{1, 10}, [2]int64{1, 20}, [2]int64{5, 10}, [2]int64{2, 350}), until: 1000,
			want: Figures{To: 6, Received: 4, Duplicates: 1, Reordered: 1, MaxExtent: 1, LossRun: 2, Hops: 3, HopsMost: 3,
				Delay: Delay{10e6 - hour, 10e6 - hour, 350e6 - hour}, Variation: Variation{340e6, 340e6}}},
		"the first is lost": {stream: came([2]int64{1, 10}), until: 1000,
			want: Figures{To: 2, Received: 1, LossRun: 1, Hops: 3, HopsMost: 3, Delay: Delay{10e6 - hour, 10e6 - hour, 10e6 - hour}}},
		"the last are lost, and others told of them": {stream: came([2]int64{0, 10}), known: 4, until: 1000,
			want: Figures{To: 4, Received: 1, LossRun: 3, Hops: 3, HopsMost: 3, Delay: Delay{10e6 - hour, 10e6 - hour, 10e6 - hour}}},
		"the last are not due yet": {stream: came([2]int64{0, 10}), known: 4, until: 209,
			want: Figures{To: 2, Received: 1, LossRun: 1, Hops: 3, HopsMost: 3, Delay: Delay{10e6 - hour, 10e6 - hour, 10e6 - hour}}},
		"listened from the third on, which is lost": {stream: came([2]int64{3, 10}, [2]int64{4, 10}), since: 205, until: 1000,
			want: Figures{From: 2, To: 5, Received: 2, LossRun: 1, Hops: 3, HopsMost: 3, Delay: Delay{10e6 - hour, 10e6 - hour, 10e6 - hour}}},
		"what came before it listened is not judged": {stream: came([2]int64{0, 10}, [2]int64{1, 300}, [2]int64{3, 10}), since: 200, until: 1000,
			want: Figures{From: 2, To: 4, Received: 1, LossRun: 1, Hops: 3, HopsMost: 3, Delay: Delay{10e6 - hour, 10e6 - hour, 10e6 - hour}}},
		"all before it listened": {stream: came([2]int64{0, 10}, [2]int64{1, 10}), since: 500, until: 1000,
			want: Figures{From: 2, To: 2, Hops: -1, HopsMost: -1}},
		"listened too short": {stream: came([2]int64{9, 10}), since: 500, until: 400, want: Figures{From: 5, To: 5, Hops: -1, HopsMost: -1}},
	} {
		c.stream.known = max(c.stream.known, c.known)
		if diff := cmp.Diff(c.want, c.stream.judge(c.since*ms, c.until*ms)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Probes on different ways, and those that were given another mark, are told.
func TestPassed(t *testing.T) {
	s := came([2]int64{0, 10}, [2]int64{1, 10}, [2]int64{2, 10})
	s.arrivals[0].hops, s.arrivals[1].hops, s.arrivals[2].remarked = -1, 5, true
	got := s.judge(0, 1000*ms)
	if got.Hops != 3 || got.HopsMost != 5 || got.Remarked != 1 {
		t.Errorf("%+v", got)
	}
}

func TestLoss(t *testing.T) {
	if f := (Figures{From: 10, To: 20, Received: 7}); f.Loss() != 0.3 || f.Lost() != 3 {
		t.Errorf("loss %v, lost %d", f.Loss(), f.Lost())
	}
	if f := (Figures{From: 10, To: 10}); !math.IsNaN(f.Loss()) {
		t.Errorf("loss of none %v", f.Loss())
	}
}

// IDs outlive JSON, whose numbers may have no more than 53 bits.
func TestID(t *testing.T) {
	for id, want := range map[ID]string{1: `"0000000000000001"`, math.MaxUint64: `"ffffffffffffffff"`} {
		text, err := json.Marshal(id)
		if err != nil || string(text) != want {
			t.Errorf("%s, %v; want %s", text, err, want)
		}
		var back ID
		if err := json.Unmarshal(text, &back); err != nil || back != id {
			t.Errorf("%s came back as %v, %v", text, back, err)
		}
	}
	if err := json.Unmarshal([]byte(`"0x1"`), new(ID)); err == nil {
		t.Error("an ID that is none was read")
	}
}

// A member that has sent all it may, with each fifth probe overtaken.
func BenchmarkJudge(b *testing.B) {
	s := stream{interval: 100 * time.Millisecond, known: MostProbes}
	for i := range int64(MostProbes) {
		delay := 10 * ms
		if i%5 == 0 {
			delay = 150 * ms
		}
		s.arrivals = append(s.arrivals, arrival{sequence: uint32(i), sent: i * 100 * ms, at: i*100*ms + delay})
	}
	b.ReportAllocs()
	for b.Loop() {
		if f := s.judge(0, math.MaxInt64); f.Received != MostProbes {
			b.Fatal(f)
		}
	}
}
