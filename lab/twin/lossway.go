package twin

import (
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// wayLoss is what is known of the random loss of one way by itself.
type wayLoss struct {
	ratio float64
	by    string   // who counted it; "": nobody did
	most  float64  // that it can be, whatever echoes say; 1: not known
	notes []string // of what was not counted
}

// lossOfWay takes what datagrams lost, else what TCP had to repeat, without what the queue in front of the link dropped.
// The lab's queue drops that by itself; as random loss it would be there twice, and random loss costs TCP more.
//
//   - A transfer that kept a link of that line rate full lost in the queue. It bounds what else it can have lost.
//   - One that filled it at times lost at random what it lost while the queue was more empty than full.
//   - One that filled none lost everything at random, one by one. If slow probes lost less, it overflowed a queue too short
//     to be seen, which the lab has if the link's rate is known. If not, or if the losses explain the window only when
//     several count as one, then random loss stands for them that is as rare as TCP had to slow down.
func (e *evidence) lossOfWay(reverse bool, line float64, echoes tally) wayLoss {
	if c := e.datagramLosses(reverse); c.sent > 0 {
		return wayLoss{ratio: c.ratio(), by: "datagrams lost", most: 1}
	}
	w := wayLoss{most: 1}
	lost, segments, burst := 0.0, 0.0, echoes.burst()
	for _, r := range e.transfers {
		v := view(r)
		if reversed(r) != reverse || bidirectional(r) || v.sent == 0 {
			continue
		}
		_, filled := v.filled(e.usualExtra())
		quiet, of := v.episodes(v.long(e.usualExtra()))
		overflowed := e.overflowed(v, reverse)
		switch {
		case v.keptFull(line), filled && quiet == 0:
			w.most = min(w.most, v.bears(burst))
			w.leaveOut(r, v, "dropped in front of the link, which it filled")
		case filled:
			lost, segments = lost+quiet*burst, segments+of
			w.leaveOut(r, v, fmt.Sprintf("dropped in front of the link, but for %.0f times in %.0f segments while it was not full",
				quiet, of))
		case overflowed && (line > 0 || len(v.moments) == 0):
			w.leaveOut(r, v, "dropped in front of the link, for slow probes lost less")
		case !overflowed && (v.repeated == 0 || v.lossBlind() || v.lossLimited()):
			lost, segments = lost+v.repeated, segments+v.sent
		default:
			times, of := v.episodes(math.Inf(1))
			lost, segments = lost+times*burst, segments+of
			w.leaveOut(r, v, fmt.Sprintf("lost several at a time; each of %.0f times in %.0f segments counts once", times, of))
		}
	}
	if segments > 0 {
		w.ratio, w.by = min(w.most, lost/segments), "TCP had to repeat"
	}
	return w
}

// leaveOut notes why not all that a transfer repeated counts.
func (w *wayLoss) leaveOut(r *measure.Result, v transferView, why string) {
	if v.repeated > 0 {
		w.notes = append(w.notes, fmt.Sprintf("  what throughput %s repeated (%s) was %s", r.ID,
			quantity.FormatRatio(v.lossRatio()), why))
	}
}

// overflowed reports whether a flow lost what probes do not that are too slow to fill a queue: datagrams if there are
// any, else echoes. Runs are only known of echoes' losses.
func (e *evidence) overflowed(v transferView, reverse bool) bool {
	echoes := echoLosses(e.pings)
	probes := e.datagramLosses(reverse)
	if probes.sent == 0 {
		probes = echoes
	}
	return v.repeated > 0 && probes.refute(v.lossRatio(), echoes.burstFactor())
}

// divideLoss divides the loss of the round trip. Where one way's own is known, the other has the rest, as far as it can;
// else each has the same, unless a way can have less: then the other has the rest.
func divideLoss(both float64, ways [2]wayLoss) (forward, reverse float64, why string) {
	f, r := ways[0], ways[1]
	rest := func(one float64) float64 {
		if one >= 1 {
			return 0
		}
		return max(0, 1-(1-both)/(1-one))
	}
	even := 1 - math.Sqrt(1-both)
	switch {
	case f.by != "" && r.by != "":
		return f.ratio, r.ratio, fmt.Sprintf("%s forward (%s), %s in reverse (%s)", quantity.FormatRatio(f.ratio), f.by,
			quantity.FormatRatio(r.ratio), r.by)
	case f.by != "":
		return f.ratio, min(r.most, rest(f.ratio)), fmt.Sprintf("%s forward (%s)%s", quantity.FormatRatio(f.ratio), f.by,
			r.left("in reverse", rest(f.ratio)))
	case r.by != "":
		return min(f.most, rest(r.ratio)), r.ratio, fmt.Sprintf("%s in reverse (%s)%s", quantity.FormatRatio(r.ratio), r.by,
			f.left("forward", rest(r.ratio)))
	case both == 0:
		return 0, 0, ""
	case f.most < even && rest(f.most) <= r.most:
		return f.most, rest(f.most), fmt.Sprintf("the rest in reverse, for forward there can be %s at the most",
			quantity.FormatRatio(f.most))
	case r.most < even && rest(r.most) <= f.most:
		return rest(r.most), r.most, fmt.Sprintf("the rest forward, for in reverse there can be %s at the most",
			quantity.FormatRatio(r.most))
	}
	return even, even, "divided evenly: assumed, nothing tells which way"
}

// left says that the way has what is left of the loss of the round trip.
func (w wayLoss) left(way string, ratio float64) string {
	switch {
	case ratio == 0:
		return ""
	case ratio > w.most:
		return fmt.Sprintf(", %s as much of the rest as TCP bears there (%s)", way, quantity.FormatRatio(w.most))
	}
	return ", the rest " + way
}

// datagramLosses is what UDP lost one way, below the rate of the narrowest link. Its runs are not known.
func (e *evidence) datagramLosses(reverse bool) tally {
	var c tally
	for _, r := range e.datagrams {
		if reversed(r) == reverse && !bidirectional(r) && e.unhurried(r) {
			c.sent += int(r.Metrics[measure.SentPackets])
			c.lost += int(r.Metrics[measure.LostPackets])
		}
	}
	return c
}

func bidirectional(r *measure.Result) bool { return r.Parameters["bidir"] == true }
