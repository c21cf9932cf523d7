package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/analysis/dispersion"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// Arrivals find their train by their number; what comes twice, or was never sent, does not count.
func TestTrainsOf(t *testing.T) {
	steps := []dispersion.Step{{Packets: 2}, {Packets: 3, Spacing: 0.1}}
	arrivals := []iperf3.Arrival{{Sequence: 1, At: 5, Sent: 1}, {Sequence: 2, At: 7, Sent: 1}, {Sequence: 5, At: 30, Sent: 9}, {Sequence: 4, At: 40, Sent: 8},
		{Sequence: 4, At: 50, Sent: 8}, {Sequence: 0}, {Sequence: -1}, {Sequence: 6}, {Sequence: 1 << 62}}
	want := []dispersion.Train{
		{Sent: 2, Size: 1500, Packets: []dispersion.Packet{{Index: 0, At: 5, Sent: 1}, {Index: 1, At: 7, Sent: 1}}},
		{Sent: 3, Size: 1500, Paced: true, Packets: []dispersion.Packet{{Index: 2, At: 30, Sent: 9}, {Index: 1, At: 40, Sent: 8}}},
	}
	if diff := cmp.Diff(want, trainsOf(arrivals, steps, 1500)); diff != "" {
		t.Errorf("trains (-want +got):\n%s", diff)
	}
}

// What is certain is a metric; what is not is a sample and a note.
func TestCapacityReduced(t *testing.T) {
	run := capacityRun{Capacity: &Capacity{}, result: newResult("capacity", "b")}
	study := &dispersion.Study{Goal: dispersion.Goal{Free: true}, Size: 1500}
	steps := study.Next()
	var arrivals []iperf3.Arrival
	at, seq := int64(0), int64(0)
	for _, s := range steps { // over a link that takes 120 µs for each
		at += 50e6
		sent := at
		for range s.Packets {
			at, seq = at+120_000, seq+1
			arrivals = append(arrivals, iperf3.Arrival{Sequence: seq, At: at, Sent: sent})
		}
	}
	study.Add(trainsOf(arrivals, steps, 1500))
	if err := run.reduce(study); err != nil {
		t.Fatal(err)
	}
	r := run.result
	if got := r.Metrics[measure.Capacity]; got < 99e6 || got > 101e6 {
		t.Errorf("capacity %v, want 100 Mbit/s", got)
	}
	if _, known := r.Get(measure.Available); known || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "the available bandwidth is not known: ") {
		t.Errorf("nothing was sent that tells what is free: %v, %v", r.Metrics, r.Notes)
	}
	if c := r.Samples.Capacity; !c.Capacity.Certain || c.Available.Certain || c.Standard != "Fast Ethernet" || len(r.Samples.Trains) != len(steps) {
		t.Errorf("samples: %+v", r.Samples)
	}
}

// Trains that all were lost, and those that no link spread, tell no capacity, and say why.
func TestCapacityUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		arrive func(seq int64) iperf3.Arrival
		want   error
	}{
		"lost": {func(seq int64) iperf3.Arrival { return iperf3.Arrival{Sequence: seq * 1000} }, errTrainsLost},
		"slow": {func(seq int64) iperf3.Arrival { return iperf3.Arrival{Sequence: seq, At: seq * 1e6, Sent: seq * 1e6} }, errTrainsSlow},
	} {
		run := capacityRun{Capacity: &Capacity{}, result: newResult("capacity", "b")}
		study := &dispersion.Study{Size: 1500}
		steps := study.Next()
		var arrivals []iperf3.Arrival
		for seq := range int64(140) {
			arrivals = append(arrivals, c.arrive(seq+1))
		}
		study.Add(trainsOf(arrivals, steps, 1500))
		if err := run.reduce(study); err != c.want {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestCapacityText(t *testing.T) {
	certain := func(rate float64) measure.RateEstimate {
		return measure.RateEstimate{BitsPerSecond: rate, Low: 0.99 * rate, High: 1.01 * rate, Certain: true}
	}
	doubtful := certain(20e6)
	doubtful.Certain, doubtful.Doubt = false, "other traffic varies"
	for want, c := range map[string]*measure.PathCapacity{
		"48.7 Mbit/s at the narrowest link":                                     {Capacity: certain(48.7e6)},
		"48.7 Mbit/s at the narrowest link; perhaps 20.0 Mbit/s free":           {Capacity: certain(48.7e6), Available: &doubtful},
		"10.0 Mbit/s for long, after 50.0 kB at 48.7 Mbit/s; 10.0 Mbit/s free":  {Capacity: certain(48.7e6), Available: new(certain(10e6)), Bucket: &measure.TokenBucket{Rate: certain(10e6), Bytes: 50e3}},
		"the capacity is not known":                                             {},
		"perhaps 20.0 Mbit/s for long, after some bytes at perhaps 20.0 Mbit/s": {Capacity: doubtful, Bucket: &measure.TokenBucket{Rate: doubtful}},
	} {
		if got := capacityAnswer(c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
