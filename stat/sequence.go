package stat

// LossRuns returns the length of each run of consecutive losses, in order: the lengths of the loss periods of RFC 3357
// section 4. lost[i] says whether the i-th packet sent was lost.
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

// Reordered counts the Type-P-Reordered singletons of RFC 4737 section 3.3 in sequence numbers given in order of arrival: the
// packets that arrive after one that was sent later. As the RFC asks, only the first copy of a packet counts; later
// copies are duplicates. Gaps are losses and reorder nothing.
func Reordered(seqs []uint64) int {
	count := 0
	seen := make(map[uint64]struct{}, len(seqs))
	var highest uint64
	for _, s := range seqs {
		if _, duplicate := seen[s]; duplicate {
			continue
		}
		seen[s] = struct{}{}
		if s < highest { // the RFC's s < NextExp, where NextExp is highest + 1
			count++
		}
		highest = max(highest, s)
	}
	return count
}
