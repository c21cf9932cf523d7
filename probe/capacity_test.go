package probe

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// arrivalsOf makes what a receiver reports of trains that a link of the given rate spread, without the packets that
// lost names.
func arrivalsOf(train iperf3.Train, bitsPerSecond float64, lost ...int64) []iperf3.Arrival {
	spacing := float64(train.Size+28) * 8 / bitsPerSecond * 1e9
	gone := map[int64]bool{}
	for _, seq := range lost {
		gone[seq] = true
	}
	var out []iperf3.Arrival
	seq := int64(0)
	for k := range train.Trains {
		busy := 0.0 // what is lost does not keep the link busy
		for range train.Packets {
			if seq++; !gone[seq] {
				out = append(out, iperf3.Arrival{Sequence: seq, At: int64(float64(k)*train.Gap*1e9 + busy)})
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

// Trains that a queue of some packets holds tell the rate behind it; those of which a packet was lost do not.
func TestHeadTrains(t *testing.T) {
	const link = 100e6
	trains := dispersions(arrivalsOf(headTrains, link, 3), headTrains, headTrains.Size+28)
	if trains[0].BitsPerSecond != 0 {
		t.Errorf("a train of which a packet was lost: %+v", trains[0])
	}
	if got, err := capacityOf(trains); err != nil || math.Abs(got-link) > 0.001*link {
		t.Errorf("%v, %v; want %v", got, err, link)
	}
}

// What a peer may send, whatever it is, is no crash and no capacity out of nothing.
func TestDispersionsOfNonsense(t *testing.T) {
	train := iperf3.Train{Packets: 4, Size: 100, Trains: 2}
	for _, arrivals := range [][]iperf3.Arrival{
		nil, {{}}, {{Sequence: -5, At: 1}, {Sequence: math.MaxInt64, At: 2}, {Sequence: math.MinInt64, At: 3}},
		{{Sequence: 1, At: 7}, {Sequence: 2, At: 7}, {Sequence: 3, At: 7}}, {{Sequence: 9}, {Sequence: 10, At: 5}},
	} {
		if c, err := capacityOf(dispersions(arrivals, train, train.Size+28)); err == nil {
			t.Errorf("%v: a capacity of %v", arrivals, c)
		}
	}
}

// A receiver that sleeps through a third of a train and then gets it all at once does not spoil it.
func TestDispersionsOfAStall(t *testing.T) {
	train := iperf3.Train{Packets: 30, Size: 1472, Trains: 1}
	arrivals := arrivalsOf(train, 100e6)
	for i := range 10 {
		arrivals[i].At = arrivals[10].At
	}
	if got := dispersions(arrivals, train, train.Size+28)[0].BitsPerSecond; math.Abs(got-100e6) > 1e6 {
		t.Errorf("%v bit/s of 100 Mbit/s", got)
	}
}

// A sender that is off its processor again and again leaves the narrowest link idle, for as long as it likes: what comes of it is the
// link's rate, or nothing.
func TestDispersionsOfABusySender(t *testing.T) {
	const link = 100e6
	for _, c := range []struct {
		name     string
		each     float64 // s to send one
		burst    int     // datagrams that it sends until it is off
		off      float64 // s
		wantNone bool
	}{
		{"one stop", 20e-6, 128, 50e-3, false}, {"short stops", 40e-6, 25, 3e-3, false}, {"long stops", 20e-6, 44, 20e-3, false},
		{"as slow as the link", 130e-6, 256, 0, true}, {"stops after each", 20e-6, 1, 0.2e-3, true}, {"stops after a few", 20e-6, 8, 2e-3, true},
	} {
		train := iperf3.Train{Packets: 256, Size: 1472, Trains: 3}
		var arrivals []iperf3.Arrival
		sent, free := 0.0, 0.0
		for seq := 1; seq <= train.Packets*train.Trains; seq++ {
			if sent += c.each; seq%c.burst == 0 {
				sent += c.off
			}
			free = max(free, sent) + 12e3/link
			arrivals = append(arrivals, iperf3.Arrival{Sequence: int64(seq), At: int64((free + 0.02) * 1e9),
				Sent: int64((sent + 1000) * 1e9)}) // of another clock
		}
		capacity, err := capacityOf(dispersions(arrivals, train, 1500))
		if c.wantNone && !errors.Is(err, errTrainsSlow) || !c.wantNone && (err != nil || math.Abs(capacity-link) > 0.01*link) {
			t.Errorf("%s: %v bit/s, %v", c.name, capacity, err)
		}
	}
}

// Trains as they came on a host with two processors and six programs that took all they could get, through a link of 100 Mbit/s.
// The sender was stopped up to 30 times in a train; by all that arrived, the capacity would be 48 Mbit/s.
func TestDispersionsRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/busy-sender.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Train    iperf3.Train
		Packet   int
		Arrivals [][3]int64 // as on the wire
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	const link = 100e6 * 1500 / 1538 // less the framing of Ethernet
	var arrivals []iperf3.Arrival
	for _, a := range recorded.Arrivals {
		arrivals = append(arrivals, iperf3.Arrival{Sequence: a[0], At: a[1], Sent: a[2]})
	}
	capacity, err := capacityOf(dispersions(arrivals, recorded.Train, recorded.Packet))
	if err != nil || math.Abs(capacity-link) > 0.01*link {
		t.Errorf("%v bit/s, %v, want %v", capacity, err, link)
	}
}

// Of trains that lost most of their packets, one that a full queue held back tells the rate of its link; one whose head a limit
// on bursts let pass, and of the rest only single packets, tells nothing, or the rate of these.
func TestDispersionsOfTrainsThatWereCut(t *testing.T) {
	const lan, link = 1e9, 50e6 // bit/s before the narrow place, and of it
	for _, packets := range []int{32, 256} {
		train := iperf3.Train{Packets: packets, Size: 1472, Trains: 1}
		for _, room := range []int{8, 10, 20} { // packets that fit the queue, or the burst
			var queued, policed []iperf3.Arrival
			free, tokens := 0.0, float64(room)
			for i := range packets {
				at := float64(i) * 12e3 / lan // s
				if waiting := max(0, free-at) * link / 12e3; waiting < float64(room) {
					free = max(free, at) + 12e3/link
					queued = append(queued, iperf3.Arrival{Sequence: int64(i + 1), At: int64(free * 1e9)})
				}
				if tokens = min(float64(room), tokens+12e3/lan*link/12e3); tokens >= 1 {
					tokens--
					policed = append(policed, iperf3.Arrival{Sequence: int64(i + 1), At: int64(at * 1e9)})
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

// Some packets of a train that overflowed a queue come by a longer way, long after the others.
func TestDispersionsOfLatePackets(t *testing.T) {
	train := iperf3.Train{Packets: 256, Size: 1472, Trains: 1}
	var lost []int64
	for seq := int64(180); seq <= 256; seq++ {
		lost = append(lost, seq)
	}
	arrivals := arrivalsOf(train, 50e6, lost...)
	for i := 40; i < len(arrivals); i += 50 {
		arrivals[i].At += 60e6
	}
	if got := dispersions(arrivals, train, 1500)[0].BitsPerSecond; math.Abs(got-50e6) > 2.5e6 {
		t.Errorf("%v bit/s of 50 Mbit/s", got)
	}
}

func TestCapacityOf(t *testing.T) {
	told, silent, lost := measure.Train{SentPackets: 32, ReceivedPackets: 32, BitsPerSecond: 97e6},
		measure.Train{SentPackets: 32, ReceivedPackets: 32}, measure.Train{SentPackets: 32, ReceivedPackets: 7}
	slow, fast := told, told
	slow.BitsPerSecond, fast.BitsPerSecond = 90e6, 400e6
	for name, c := range map[string]struct {
		trains []measure.Train
		want   float64
		err    error
	}{
		"the median":          {[]measure.Train{slow, silent, told, fast}, 97e6, nil},
		"a single one":        {[]measure.Train{told}, 97e6, nil},
		"one of several":      {[]measure.Train{silent, told, silent}, 0, errTrainsSlow},
		"none tells":          {[]measure.Train{silent, silent, lost}, 0, errTrainsSlow},
		"most did not arrive": {[]measure.Train{lost, lost, silent}, 0, errTrainsLost},
		"nothing":             {nil, 0, errTrainsLost},
	} {
		if got, err := capacityOf(c.trains); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v, want %v, %v", name, got, err, c.want, c.err)
		}
	}
}
