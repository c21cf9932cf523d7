package stat

// LossRuns returns the length of each run of consecutive losses, in order: the Loss-Period-Lengths of
// RFC 3357. lost[i] says whether the i-th packet sent was lost.
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

// LossDistances returns how many packets after the loss before it each loss came, in order, but for the first, which has none before it:
// the loss distances of RFC 3357. Within a run they are 1; the others are its Inter-Loss-Period-Lengths.
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
