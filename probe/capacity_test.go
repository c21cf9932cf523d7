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
	train := iperf3.Train{Packets: 12, Size: 1472, Trains: 3, Gap: 0.1}
	arrivals := arrivalsOf(train, 100e6, 3, 4, 25, 26, 27, 28, 29)
	want := []measure.Train{
		{SentPackets: 12, ReceivedPackets: 10, DispersionSeconds: 1080e-6, BitsPerSecond: 100e6},
		{SentPackets: 12, ReceivedPackets: 12, DispersionSeconds: 1320e-6, BitsPerSecond: 100e6},
		{SentPackets: 12, ReceivedPackets: 7},
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

// Of trains that lost most of their packets, one that a full queue held back tells the rate of its link; one whose head a limit
// on bursts let pass, and of the rest only single packets, tells nothing, or the rate of these.
func TestDispersionsOfTrainsThatWereCut(t *testing.T) {
	const lan, link = 1e9, 50e6 // bit/s before the narrow place, and of it
	for _, packets := range []int{32, 256} {
		train := iperf3.Train{Packets: packets, Size: 1472, Trains: 1}
		for _, room := range []int{8, 10, 20} { // packets that fit the queue, or the burst
			var queued, policed [][2]int64
			free, tokens := 0.0, float64(room)
			for i := range packets {
				at := float64(i) * 12e3 / lan // s
				if waiting := max(0, free-at) * link / 12e3; waiting < float64(room) {
					free = max(free, at) + 12e3/link
					queued = append(queued, [2]int64{int64(i + 1), int64(free * 1e9)})
				}
				if tokens = min(float64(room), tokens+12e3/lan*link/12e3); tokens >= 1 {
					tokens--
					policed = append(policed, [2]int64{int64(i + 1), int64(at * 1e9)})
				}
			}
			if got := dispersions(queued, train, 1500)[0]; math.Abs(got.BitsPerSecond-link) > 0.02*link {
				t.Errorf("%d packets into a queue of %d: %+v, want %v bit/s", packets, room, got, link)
			}
			got := dispersions(policed, train, 1500)[0]
			if cut := float64(got.ReceivedPackets) < 0.6*float64(packets); cut && got.BitsPerSecond > 1.5*link {
				t.Errorf("%d packets into bursts of %d: %+v, want no more than %v bit/s", packets, room, got, link)
			}
		}
	}
}

func TestCapacityOf(t *testing.T) {
	trains := []measure.Train{{BitsPerSecond: 90e6}, {BitsPerSecond: 0}, {BitsPerSecond: 97e6}, {BitsPerSecond: 400e6}}
	if c, ok := capacityOf(trains); !ok || c != 97e6 {
		t.Errorf("capacity %v %v, want the median of the trains that came, 97 Mbit/s", c, ok)
	}
}
