package measure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A pair is a Result of its own, from sender to receiver, the same each time it is made.
func TestPairResult(t *testing.T) {
	r := NewResult("beacon", time.Unix(1e9, 0))
	r.Test, r.Tool, r.Role, r.Source, r.DurationSeconds = "tv@studio", "tv", RolePlanned, Endpoint{"b", "10.0.0.2"}, 12
	pair := MemberPair{From: 1, To: 0, Final: true, Sent: 100, Received: 90, Duplicates: 3, Reordered: 2, ExtentMax: 4, BurstMax: 5, HopsMin: new(2),
		DelayMinSeconds: new(0.01), DelayMedianSeconds: new(0.011), DelayP95Seconds: new(0.02), PDVP95Seconds: new(0.009), IPDVP95Seconds: new(0.008)}
	got := r.PairResult(&pair, Endpoint{"a", "10.0.0.1"})
	want := NewResult(KindMemberPair, r.Started)
	want.ID, want.Test, want.Tool, want.Role, want.DurationSeconds = got.ID, "tv@studio", "tv", RolePlanned, 12
	want.Source, want.Target = Endpoint{"a", "10.0.0.1"}, Endpoint{"b", "10.0.0.2"}
	want.Metrics = map[Metric]float64{"sent_packets": 100, "received_packets": 90, "lost_packets": 10, "loss_ratio": 0.1, "duplicate_packets": 3, "reordered_packets": 2,
		"sent_forward_packets": 100, "lost_forward_packets": 10, "loss_forward_ratio": 0.1, "loss_burst_forward_max_packets": 5, "duplicate_forward_packets": 3,
		"reordered_forward_packets": 2, "reordering_extent_forward_max_packets": 4, "owd_forward_min_seconds": 0.01, "owd_forward_median_seconds": 0.011,
		"owd_forward_p95_seconds": 0.02, "pdv_forward_p95_seconds": 0.009, "ipdv_forward_p95_seconds": 0.008, "hop_count": 3}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, other := r.PairResult(&pair, Endpoint{Name: "a"}), r.PairResult(&pair, Endpoint{Name: "c"}); again.ID != got.ID || other.ID == got.ID || got.ID == r.ID {
		t.Errorf("IDs: %s, %s, of another sender %s, of the whole %s", got.ID, again.ID, other.ID, r.ID)
	}
	for m := range want.Metrics {
		if _, known := m.Definition(); !known {
			t.Errorf("%s is no metric", m)
		}
	}
}
