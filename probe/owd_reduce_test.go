package probe

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/analysis/passage"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// reflectedPackets are packets 100 ms apart that a far end reflected after 1 ms, whose clock is ahead. Ways are in ms, forward and reverse; a
// negative one is lost that way.
func reflectedPackets(began time.Time, ahead time.Duration, ways ...[2]float64) (packets []owdPacket, arrivals []passage.Answer) {
	count := uint32(0)
	for i, w := range ways {
		sent := began.Add(time.Duration(i) * 100 * time.Millisecond)
		p := owdPacket{sent: sock.Stamp{User: sent, Kernel: sent.Round(0)}, settled: true}
		if w[0] >= 0 {
			arrived := sent.Add(time.Duration(w[0] * 1e6))
			answered := arrived.Add(time.Millisecond)
			if w[1] >= 0 {
				received := answered.Add(time.Duration(w[1] * 1e6))
				p.reflection = reflection{index: i, count: count, counts: true, arrived: arrived.Add(ahead).Round(0), answered: answered.Add(ahead).Round(0)}
				p.received = sock.Stamp{User: received, Kernel: received.Round(0)}
				arrivals = append(arrivals, passage.Answer{Index: i, Count: count, Counts: true})
			}
			count++
		}
		packets = append(packets, p)
	}
	return packets, arrivals
}

func TestReduceOWD(t *testing.T) {
	began := time.Now()
	packets, arrivals := reflectedPackets(began, time.Hour, [2]float64{20, 10}, [2]float64{22, 10}, [2]float64{-1, 0}, [2]float64{20, -1},
		[2]float64{21, 14}, [2]float64{20, 10})
	f := reduceOWD(packets, arrivals, began.Round(0), math.NaN())
	forward := map[string]float64{"min": 3600.020, "median": 3600.0205, "p95": 3600.022, "p99": 3600.022, "max": 3600.022}
	reverse := map[string]float64{"min": -3599.990, "median": -3599.990, "p95": -3599.986, "p99": -3599.986, "max": -3599.986}
	want := map[measure.Metric]float64{
		measure.SentPackets: 6, measure.ReceivedPackets: 4, measure.LostPackets: 2, measure.LossRatio: 1. / 3, measure.LossBurstMax: 2,
		measure.LossPeriodMean: 2, measure.DuplicatePackets: 0, measure.ReorderedPackets: 0,
		measure.RTTMin: .03, measure.RTTMean: .03175, measure.RTTMedian: .031, measure.RTTP95: .035, measure.RTTP99: .035, measure.RTTMax: .035,
		measure.RTTStddev: .0023629, measure.ClockOffset: 3600.005, measure.ClockSkew: 0,
	}
	for way, q := range map[string]map[string]float64{measure.Forward: forward, measure.Reverse: reverse} {
		for part, v := range q {
			want[measure.OneWay(way, part)] = v
		}
		want[measure.LostOn(way)], want[measure.LossBurstOn(way)], want[measure.LossPeriodOn(way)] = 1, 1, 1
		want[measure.DuplicateOn(way)], want[measure.ReorderedOn(way)], want[measure.ExtentOn(way)], want[measure.LargestNOn(way)] = 0, 0, 0, 0
	}
	want[measure.SentOn(measure.Forward)], want[measure.LossOn(measure.Forward)] = 6, 1./6
	want[measure.SentOn(measure.Reverse)], want[measure.LossOn(measure.Reverse)] = 5, 1./5
	want[measure.IPDVP95(measure.Forward)], want[measure.PDVP95(measure.Forward)] = .002, .002
	want[measure.OneWaySpread(measure.Forward)], want[measure.Playout(measure.Forward)] = .0015, .002
	want[measure.IPDVP95(measure.Reverse)], want[measure.PDVP95(measure.Reverse)] = .004, .004
	want[measure.OneWaySpread(measure.Reverse)], want[measure.Playout(measure.Reverse)] = .004, .004
	quality := cmpopts.IgnoreMapEntries(func(m measure.Metric, v float64) bool {
		return m.Unit() == "score" && v > 0 || m == measure.OneWayError && v >= 3600.02 && v <= 3600.022 // of stat, which has its own tests
	})
	if diff := cmp.Diff(want, f.metrics, cmpopts.EquateApprox(0, 2e-6), quality); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(f.distributions) != 3 || f.contradicted {
		t.Errorf("%d distributions, contradicted %v", len(f.distributions), f.contradicted)
	}
	// Whom the clocks deceive about both ways, the packets do not about speech: half of the round trip stands for the delay.
	if mos := f.metrics[measure.MOS(measure.Forward)]; mos < 2 || mos > 4.4 {
		t.Errorf("MOS %v", mos)
	}
}

// A claim that the packets contradict does not count.
func TestReduceOWDFalseClaim(t *testing.T) {
	began := time.Now()
	packets, arrivals := reflectedPackets(began, 500*time.Millisecond, [2]float64{20, 20}, [2]float64{20, 20})
	for claim, want := range map[float64]struct {
		most         float64
		contradicted bool
	}{0.001: {0.52, true}, 0.505: {0.505, false}, 10: {0.52, false}} {
		f := reduceOWD(packets, arrivals, began.Round(0), claim)
		if got := f.metrics[measure.OneWayError]; got < want.most || got > want.most+0.005 || f.contradicted != want.contradicted {
			t.Errorf("claim %v: error %v, contradicted %v; want %+v", claim, got, f.contradicted, want)
		}
	}
}

// Where nothing came back there are losses and nothing else, and of which way nobody knows.
func TestReduceOWDNothing(t *testing.T) {
	began := time.Now()
	packets, arrivals := reflectedPackets(began, 0, [2]float64{-1, 0}, [2]float64{0, -1})
	got := reduceOWD(packets, arrivals, began, math.NaN())
	if diff := cmp.Diff(withLoss("xx", map[measure.Metric]float64{measure.DuplicatePackets: 0}), got.metrics); diff != "" || got.known {
		t.Errorf("known %v (-want +got):\n%s", got.known, diff)
	}
	if got := reduceOWD(nil, nil, began, 0); len(got.metrics) != 0 {
		t.Errorf("%v of no packets", got.metrics)
	}
}
