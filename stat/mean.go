package stat

import "math"

// MeanInterval returns where the mean of what values were drawn from lies with 95 % confidence, by Student's distribution: exact for
// values that scatter normally, close for most others. Values are independent of each other, in any order. Of one value it is that
// value, of none NaN.
func MeanInterval(values []float64) (low, high float64) {
	n := len(values)
	mean := 0.
	for _, v := range values {
		mean += v / float64(n)
	}
	if n < 2 {
		if n == 0 {
			mean = math.NaN()
		}
		return mean, mean
	}
	squares := 0.
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	within := student[min(n-1, len(student))-1] * math.Sqrt(squares/float64(n-1)/float64(n))
	return mean - within, mean + within
}
