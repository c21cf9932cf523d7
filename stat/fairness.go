package stat

// Fairness is Jain's index of what several got of something: 1 where all got as much, 1/n where one of n got everything; 0 of nothing.
//
//	(Σx)² / (n Σx²)      Jain, Chiu, Hawe: A Quantitative Measure of Fairness, DEC-TR-301, 1984
func Fairness(shares ...float64) float64 {
	sum, squares := 0., 0.
	for _, x := range shares {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(shares)) * squares)
}
