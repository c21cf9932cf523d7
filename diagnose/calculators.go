package diagnose

import (
	"fmt"
	"math"
	"strconv"

	"github.com/pathwise-net/pathwise/model"
)

// What a limit allows by a formula comes with the call of the calculator that gives the same, for who wants to work it out.

// windowCall is the call that gives windowRate; "": that is not known.
func windowCall(s *Subject, bytes float64) string {
	if math.IsInf(windowRate(s, bytes), 0) {
		return ""
	}
	return fmt.Sprintf("pathwise calc window --window %.0f --rtt %s", bytes, inCall(s.Value(RoundTrip)*1e3, "ms"))
}

// lossCall is the call that gives lossAllows.
func lossCall(s *Subject, p float64) string {
	mss, trip := s.Value(MSS), s.Value(EmptyRoundTrip)
	calculator := "padhye"
	if lossAllows(s, p) == model.Mathis(mss, seconds(trip), p, model.CIndependent) {
		calculator = fmt.Sprintf("mathis --c %g", model.CIndependent)
	}
	return fmt.Sprintf("pathwise calc %s --mss %.0f --rtt %s --loss %s", calculator, mss, inCall(trip*1e3, "ms"), inCall(p*100, "%"))
}

// inCall is a value as calculators take it, more exact than their answers are printed.
func inCall(value float64, unit string) string {
	const digits = 5
	return strconv.FormatFloat(value, 'g', digits, 64) + unit
}
