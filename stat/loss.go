package stat

// LossRuns returns the length of each run of consecutive losses, in order: the Loss-Period-Lengths of RFC 3357 section 6.3, of which
// there are Loss-Period-Total (section 6.2). lost[i] says whether the i-th packet sent was lost.
func LossRuns(lost []bool) []int {
	var runs []int
	run := 0
	for _, l := range lost {
		if l {
			run++
			continue
		}
		if run > 0 {
			runs = append(runs, run)
		}
		run = 0
	}
	if run > 0 {
		runs = append(runs, run)
	}
	return runs
}

// LossDistances returns how many packets after the loss before it each loss came, in order: the loss distances of RFC 3357 section 5.4.1.
// The first loss, which has none before it and for which the RFC writes 0, is left out. Within a run they are 1; the others are
// the Inter-Loss-Period-Lengths of section 6.4.
func LossDistances(lost []bool) []int {
	var distances []int
	last := -1
	for i, l := range lost {
		if !l {
			continue
		}
		if last >= 0 {
			distances = append(distances, i-last)
		}
		last = i
	}
	return distances
}

// NoticeableLoss is the Loss-Noticeable-Rate of RFC 3357 section 6.1: the share of the losses that came at most constraint packets (the RFC's delta)
// after the loss before, which a decoder that conceals losses from what it heard last cannot conceal well. As in the RFC's example, the
// first loss counts among all and is not noticeable. Without a loss it is 0.
func NoticeableLoss(lost []bool, constraint int) float64 {
	distances := LossDistances(lost)
	noticeable, losses := 0, 0
	for _, d := range distances {
		if d <= constraint {
			noticeable++
		}
	}
	for _, l := range lost {
		if l {
			losses++
		}
	}
	return float64(noticeable) / float64(max(1, losses))
}

// BurstRatio is how much longer the runs of losses are than those of losses that come by chance, each for itself, would be (ITU-T G.107):
// 1 of the latter and of no loss, more of losses in bursts. Where nothing arrived, it is 1.
func BurstRatio(lost []bool) float64 {
	runs := LossRuns(lost)
	count := 0
	for _, run := range runs {
		count += run
	}
	if count == 0 || count == len(lost) {
		return 1
	}
	arrived := 1 - float64(count)/float64(len(lost)) // runs of losses by chance are 1 / arrived long
	return float64(count) / float64(len(runs)) * arrived
}
