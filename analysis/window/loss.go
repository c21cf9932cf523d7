package window

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// lossOutline is how losses grow with the packets in flight.
type lossOutline struct {
	heavy    float64 // share lost of the third of windows with the most packets in flight
	loses    bool    // that is more than by chance
	constant bool    // windows lose the same share, however few packets are in flight
	begins   float64 // how long packets waited in the first window that lost some after its burst, as a share of the longest wait; 0: none did
}

const (
	losing    = 0.01 // from here on a window loses packets
	lostLeast = 10   // losses tell whether they are constant
	alike     = 2    // times the share of all windows, or one by it, may groups of windows lose that lose alike
)

// lossesOf leaves begins out.
func lossesOf(steps []measure.WindowSample) lossOutline {
	n := third(steps)
	light, heavy := max(1, n/2), len(steps)-n
	sent, lost := counts(steps)
	share := ratio(sent, lost)
	l := lossOutline{heavy: ratio(counts(steps[heavy:])), constant: lost >= lostLeast}
	l.loses = l.heavy > losing
	for _, group := range [][]measure.WindowSample{steps[:light], steps[light:n], steps[n:heavy], steps[heavy:]} {
		sent, lost := counts(group)
		low, high := stat.Wilson(lost, sent)
		l.constant = l.constant && low < alike*share && high > share/alike
	}
	return l
}

// lossBegins is what packets waited in the first window that lost some after its burst, which may be longer than the queue; 0 where none did.
func lossBegins(steps []measure.WindowSample, least float64) float64 {
	for _, s := range steps {
		if lost := s.Lost - s.Burst.Lost; lost > 1 && ratio(s.Sent-s.InFlight, lost) > losing {
			return s.RTTP95Seconds - least
		}
	}
	return 0
}

// counts are what windows sent and lost together.
func counts(steps []measure.WindowSample) (sent, lost int) {
	for _, s := range steps {
		sent, lost = sent+s.Sent, lost+s.Lost
	}
	return sent, lost
}

func ratio(sent, lost int) float64 { return float64(lost) / float64(max(1, sent)) }
