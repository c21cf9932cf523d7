package probe

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// arrivalsOf makes what a receiver reports of trains that a link of the given rate spread, without the packets that
// lost names.
func arrivalsOf(train iperf3.Train, bitsPerSecond float64, lost ...int64) [][2]int64 {
	spacing := float64(train.Size+28) * 8 / bitsPerSecond * 1e9
	gone := map[int64]bool{}
	for _, seq := range lost {
		gone[seq] = true
	}
	var out [][2]int64
	seq := int64(0)
	for k := range train.Trains {
		busy := 0.0 // what is lost does not keep the link busy
		for range train.Packets {
			if seq++; !gone[seq] {
				out = append(out, [2]int64{seq, int64(float64(k)*train.Gap*1e9 + busy)})
				busy += spacing
			}
		}
	}
	return out
}

func TestDispersions(t *testing.T) {
	train := iperf3.Train{Packets: 8, Size: 1472, Trains: 3, Gap: 0.1}
	arrivals := arrivalsOf(train, 100e6, 3, 4, 17, 18, 19, 20, 21, 22, 23)
	want := []measure.Train{
		{SentPackets: 8, ReceivedPackets: 6, DispersionSeconds: 600e-6, BitsPerSecond: 100e6},
		{SentPackets: 8, ReceivedPackets: 8, DispersionSeconds: 840e-6, BitsPerSecond: 100e6},
		{SentPackets: 8, ReceivedPackets: 1},
	}
	if diff := cmp.Diff(want, dispersions(arrivals, train, train.Size+28), cmpopts.EquateApprox(1e-6, 0)); diff != "" {
		t.Errorf("trains (-want +got):\n%s", diff)
	}
}

// What a peer may send, whatever it is, is no crash and no capacity out of nothing.
func TestDispersionsOfNonsense(t *testing.T) {
	train := iperf3.Train{Packets: 4, Size: 100, Trains: 2}
	for _, arrivals := range [][][2]int64{
		nil, {{0, 0}}, {{-5, 1}, {math.MaxInt64, 2}, {math.MinInt64, 3}}, {{1, 7}, {2, 7}, {3, 7}}, {{9, 0}, {10, 5}},
	} {
		if c, ok := capacityOf(dispersions(arrivals, train, train.Size+28)); ok {
			t.Errorf("%v: a capacity of %v", arrivals, c)
		}
	}
}

// A receiver that sleeps through a third of a train and then gets it all at once does not spoil it.
func TestDispersionsOfAStall(t *testing.T) {
	train := iperf3.Train{Packets: 30, Size: 1472, Trains: 1}
	arrivals := arrivalsOf(train, 100e6)
	for i := range 10 {
		arrivals[i][1] = arrivals[10][1]
	}
	if got := dispersions(arrivals, train, train.Size+28)[0].BitsPerSecond; math.Abs(got-100e6) > 1e6 {
		t.Errorf("%v bit/s of 100 Mbit/s", got)
	}
}

func TestCapacityOf(t *testing.T) {
	trains := []measure.Train{{BitsPerSecond: 90e6}, {BitsPerSecond: 0}, {BitsPerSecond: 97e6}, {BitsPerSecond: 400e6}}
	if c, ok := capacityOf(trains); !ok || c != 97e6 {
		t.Errorf("capacity %v %v, want the median of the trains that came, 97 Mbit/s", c, ok)
	}
}
