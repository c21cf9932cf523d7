package diagnose

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// receivedOnly leaves of a transfer what the receiver's end alone knows.
func receivedOnly(r *measure.Result) *measure.Result {
	one := *r
	one.Metrics = map[measure.Metric]float64{}
	for _, m := range []measure.Metric{measure.Throughput, measure.ReceivedBytes} {
		if v, told := r.Get(m); told {
			one.Metrics[m] = v
		}
	}
	one.Samples.TCPInfo = slices.DeleteFunc(slices.Clone(r.Samples.TCPInfo), func(s measure.TCPSample) bool { return s.End == measure.Sender })
	one.Samples.Ends = slices.DeleteFunc(slices.Clone(r.Samples.Ends), func(e measure.TCPEnd) bool { return e.End == measure.Sender })
	return &one
}

// Where the sender tells nothing, the receiver's window is named where it is the limit of a fault of the library, and nowhere else, and no
// other cause is that the fault is not.
func TestReceiverAlone(t *testing.T) {
	dir, _ := recordings()
	paths, err := filepath.Glob(filepath.Join(dir, "*.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var named sync.Map
	var all sync.WaitGroup
	for _, path := range paths {
		all.Go(func() {
			recording := readRecording(t, path)
			results := slices.Clone(recording.Results)
			results = slices.DeleteFunc(results, func(r *measure.Result) bool { return r.Kind != "ping" && sortOf(r) != ofTransfer })
			for i, r := range results {
				if sortOf(r) == ofTransfer {
					results[i] = receivedOnly(r)
				}
			}
			d := Diagnose(results)
			named.Store(recording.Fault, d.Verdict)
			if truth := recording.Judge(d); truth == Wrong {
				t.Errorf("%s: a wrong cause: %s", recording.Fault, d.Verdict)
			}
		})
	}
	all.Wait()
	for fault, want := range map[string]string{"receive-window-limited": "receive-window-limited", "no-window-scaling": "no-window-scaling",
		"middlebox": "no-window-scaling"} {
		if got, _ := named.Load(fault); got != want {
			t.Errorf("%s is called %v by the receiver alone", fault, got)
		}
	}
}
