package measure

import "testing"

func TestMoved(t *testing.T) {
	for name, c := range map[string]struct {
		metrics map[Metric]float64
		want    float64
		known   bool
	}{
		"a ping":    {map[Metric]float64{RTTMin: 1}, 0, false},
		"one end":   {map[Metric]float64{ReceivedBytes: 5}, 5, true},
		"loss":      {map[Metric]float64{SentBytes: 9, ReceivedBytes: 5}, 9, true},
		"both ways": {map[Metric]float64{SentBytes: 9, ReceivedBytes: 9, ReverseSentBytes: 3, ReverseReceivedBytes: 2}, 12, true},
		"nothing":   {map[Metric]float64{SentBytes: 0}, 0, true},
	} {
		r := &Result{Metrics: c.metrics}
		if got, known := r.Moved(); got != c.want || known != c.known {
			t.Errorf("%s: %v, %v; want %v, %v", name, got, known, c.want, c.known)
		}
	}
}
