package probe

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/stat"
)

// fates are what became of the packets of a test. Runs are of packets lost one after another, in the order of sending: the loss
// periods of RFC 3357.
type fates struct {
	sent, lost int64
	runs       int64 // in which the lost ones were; 0: none were lost, or it is not known
	longest    int64 // of the runs, in packets, or uncounted
}

// uncounted is the longest run where nobody counted it.
const uncounted = -1

// fatesOf are the fates of packets of which each is known.
func fatesOf(lost []bool) fates {
	f := fates{sent: int64(len(lost))}
	for _, run := range stat.LossRuns(lost) {
		f.lost += int64(run)
		f.runs++
		f.longest = max(f.longest, int64(run))
	}
	return f
}

// datagramFates are the fates of datagrams as their receiver counted them. A peer's count of runs is believed where it can be.
func datagramFates(total iperf3.Totals) fates {
	f := fates{sent: total.Packets, lost: total.Lost, runs: total.LossRuns, longest: uncounted}
	if total.HaveReceived && total.ReceivedBytes == 0 { // the receiver saw no gap, since it saw nothing
		f.lost, f.runs = f.sent, min(1, f.sent)
	}
	if f.runs < 0 || f.runs > f.lost {
		f.runs = 0
	}
	return f
}

// metrics are those that the fates of packets tell.
func (f fates) metrics() map[measure.Metric]float64 {
	all := map[measure.Metric]float64{
		measure.SentPackets: float64(f.sent), measure.ReceivedPackets: float64(f.sent - f.lost), measure.LostPackets: float64(f.lost),
	}
	if f.sent > 0 {
		all[measure.LossRatio] = float64(f.lost) / float64(f.sent)
	}
	if f.longest != uncounted {
		all[measure.LossBurstMax] = float64(f.longest)
	}
	if f.runs > 0 {
		all[measure.LossPeriodMean] = float64(f.lost) / float64(f.runs)
	}
	return all
}
