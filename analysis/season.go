package analysis

import (
	"math"
	"sort"
	"time"
)

const (
	// profileDays is how many days must have runs in an hour before that hour is said to recur.
	profileDays = 4
	// profileHelps is what must be left of the spread without the profile: one that explains less is noise, and would add some.
	profileHelps = 0.85
)

// withoutDay are the values without what recurs by the hour of the day (UTC): each value less the median of the 24 hours around it,
// and of that the median by the hour. It is a classical decomposition with medians for means, so that a day that is unlike the
// others, or a step, does not enter the profile. Where too few days are known, or hours explain little, the values stay as they are.
func (s *series) withoutDay() []float64 {
	values := s.raw
	if s.span() < profileDays*day || s.spacing > day/8 {
		return values
	}
	rest := s.aroundDay(values)
	byHour, days := [24][]float64{}, [24]map[int64]bool{}
	for i, left := range rest {
		at := s.runs[i].At.UTC()
		h := at.Hour()
		byHour[h] = append(byHour[h], left)
		if days[h] == nil {
			days[h] = map[int64]bool{}
		}
		days[h][at.Truncate(24*time.Hour).Unix()] = true
	}
	var profile [24]float64
	for h := range profile {
		if len(days[h]) >= profileDays {
			profile[h] = median(byHour[h])
		}
	}
	usual := median(profile[:])
	without, left := make([]float64, len(values)), make([]float64, len(values))
	for i := range values {
		off := s.profileAt(profile, i) - usual
		without[i], left[i] = values[i]-off, rest[i]-off
	}
	if spread(left, 0) > profileHelps*spread(rest, 0) {
		return values
	}
	return without
}

// profileAt is the profile at the time of a run, between the middles of two hours.
func (s *series) profileAt(profile [24]float64, i int) float64 {
	at := s.runs[i].At.UTC()
	hour := float64(at.Hour()) + float64(at.Minute())/60 - 0.5
	low := math.Floor(hour)
	a, b := profile[(int(low)+24)%24], profile[(int(low)+25)%24]
	return a + (hour-low)*(b-a)
}

// aroundDay are values less the median of the 24 hours around each.
func (s *series) aroundDay(values []float64) []float64 {
	all := make([]float64, len(values))
	for i, v := range values {
		from := sort.SearchFloat64s(s.at, s.at[i]-day/2)
		to := sort.SearchFloat64s(s.at, s.at[i]+day/2)
		all[i] = v - median(values[from:to])
	}
	return all
}
