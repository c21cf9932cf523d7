package window

import (
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// lossOutline is how losses grow with the packets in flight.
type lossOutline struct {
	heavy    float64 // share lost of the third of windows with the most packets in flight
	loses    bool    // that is more than by chance
	light    float64 // and of the third with the fewest
	constant bool    // windows lose the same share, however few packets are in flight
	ever     bool    // those with few do among themselves, whatever others lose
	begins   float64 // how long packets waited in the first window that lost some after its burst, as a share of the longest wait; 0: none did
}

const (
	losing    = 0.01  // from here on a window loses packets
	lossless  = 0.002 // and up to here by chance
	fewLeast  = 2     // losses of windows with few packets in flight are none by chance
	lostLeast = 10    // losses tell whether they are constant
	alike     = 2     // times the share of all windows, or one by it, may groups of windows lose that lose alike
)

// lossesOf leaves begins out.
func lossesOf(steps []measure.WindowSample) lossOutline {
	n := third(steps)
	half, heavy := max(1, n/2), len(steps)-n
	l := lossOutline{light: ratio(counts(steps[:n])), heavy: ratio(counts(steps[heavy:]))}
	l.loses = l.heavy > losing
	_, few := counts(steps[:n])
	l.constant = few >= fewLeast && loseAlike(steps[:half], steps[half:n], steps[n:heavy], steps[heavy:])
	l.ever = loseAlike(steps[:half], steps[half:n])
	return l
}

// loseAlike says that groups of windows lose about the same share.
func loseAlike(groups ...[]measure.WindowSample) bool {
	sent, lost := counts(slices.Concat(groups...))
	share := ratio(sent, lost)
	return lost >= lostLeast && !slices.ContainsFunc(groups, func(group []measure.WindowSample) bool {
		sent, lost := counts(group)
		low, high := stat.Wilson(lost, sent)
		return low > alike*share || high < share/alike
	})
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
