package dispersion

import "slices"

// instant is when packets arrived: one, or several that were handed over at once.
type instant struct {
	at     int64 // ns
	sum    int   // packets of the train that have arrived by then
	queued bool  // these came right behind those before them
}

// instants are the arrivals of a train. Packets queued if they left so early that they could have been here before the ones ahead of them:
// something held them up until those were through. What did not queue tells when it was sent, and nothing about the link.
func instants(t Train) (all []instant) {
	for i, p := range t.Packets {
		if i > 0 && p.At == t.Packets[i-1].At {
			all[len(all)-1].sum++
			continue
		}
		all = append(all, instant{p.At, i + 1, i > 0 && p.Sent <= t.Packets[i-1].At})
	}
	return all
}

// windows are the stretches of a train's arrivals over so many packets that all queued, one from each instant on.
func windows(all []instant, span int) (stretches [][]instant) {
	for from, to := 0, 0; to < len(all); {
		switch {
		case !all[to].queued: // no stretch reaches across it
			from, to = to, to+1
		case all[to].sum-all[from].sum < span:
			to++
		default:
			stretches = append(stretches, all[from:to+1])
			from++
		}
	}
	return stretches
}

// gap is the mean time from one packet of a stretch to the next, in seconds. Lost packets are no gap: what a full queue drops leaves its link busy.
func gap(stretch []instant) float64 {
	first, last := stretch[0], stretch[len(stretch)-1]
	return float64(last.at-first.at) / 1e9 / float64(last.sum-first.sum)
}

// half is the part of a stretch up to its middle packet.
func half(stretch []instant) []instant {
	first, last := stretch[0], stretch[len(stretch)-1]
	return stretch[:1+slices.IndexFunc(stretch, func(i instant) bool { return 2*(i.sum-first.sum) >= last.sum-first.sum })]
}

// gapsOf are the gaps of each train over so many packets.
func gapsOf(trains []Train) func(span int) [][]float64 {
	all := make([][]instant, len(trains))
	for i, t := range trains {
		all[i] = instants(t)
	}
	return func(span int) [][]float64 {
		out := make([][]float64, len(all))
		for i := range all {
			for _, w := range windows(all[i], span) {
				out[i] = append(out[i], gap(w))
			}
		}
		return out
	}
}

// tiny is the share of gaps that are much shorter than the mean.
func tiny(each [][]float64) float64 {
	all, few, mean := slices.Concat(each...), 0, meanOf(each)
	for _, g := range all {
		if g < tinyGap*mean {
			few++
		}
	}
	return float64(few) / float64(max(1, len(all)))
}

func meanOf(each [][]float64) (mean float64) {
	all := slices.Concat(each...)
	for _, g := range all {
		mean += g / float64(len(all))
	}
	return mean
}

// part is a train from one of its arrivals to before another.
func (t Train) part(from, to int) Train {
	t.Packets = t.Packets[min(from, len(t.Packets)):min(to, len(t.Packets))]
	return t
}
