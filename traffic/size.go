package traffic

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/quantity"
)

// Size is how large packets are: all the same, drawn evenly between two sizes, or drawn from a few sizes by their weights.
//
//	200    64..1400    64x7,576x4,1400x1
type Size struct {
	Low, High int      // both are the size where nothing is drawn; 0: it is a mixture
	Mixture   []Weight // of sizes
}

// Weight is a size of a mixture, and how many of the packets have it beside the other weights.
type Weight struct{ Bytes, Share int }

// mostWeights of a mixture, and mostShare of one of them, keep sums small.
const (
	mostWeights = 32
	mostShare   = 1_000_000
)

// mean is the size of a packet on average.
func (s Size) mean() float64 {
	if len(s.Mixture) == 0 {
		return float64(s.Low+s.High) / 2
	}
	sum, shares := 0., 0.
	for _, w := range s.Mixture {
		sum, shares = sum+float64(w.Bytes)*float64(w.Share), shares+float64(w.Share)
	}
	return sum / shares
}

// least and most are the bounds of what is drawn.
func (s Size) bounds() (least, most int) {
	if len(s.Mixture) == 0 {
		return s.Low, s.High
	}
	least, most = s.Mixture[0].Bytes, s.Mixture[0].Bytes
	for _, w := range s.Mixture {
		least, most = min(least, w.Bytes), max(most, w.Bytes)
	}
	return least, most
}

func (s Size) draw(r *rand.Rand) int {
	if len(s.Mixture) == 0 {
		if s.Low == s.High {
			return s.Low
		}
		return s.Low + r.IntN(s.High-s.Low+1)
	}
	shares := 0
	for _, w := range s.Mixture {
		shares += w.Share
	}
	at := r.IntN(shares)
	for _, w := range s.Mixture {
		if at -= w.Share; at < 0 {
			return w.Bytes
		}
	}
	return 0 // not reached: the shares add up
}

// parseSize reads sizes, each from least to most bytes.
func parseSize(text string, least, most int) (s Size, err error) {
	one := func(text string) int {
		n, bad := quantity.ParseSize(text)
		if bad == nil && (n < int64(least) || n > int64(most)) {
			bad = fmt.Errorf("want %d to %d bytes", least, most)
		}
		if bad != nil && err == nil {
			err = fmt.Errorf("%q: %w", text, bad)
		}
		return int(n)
	}
	if low, high, is := strings.Cut(text, ".."); is {
		s = Size{Low: one(low), High: one(high)}
		if err == nil && s.Low > s.High {
			err = fmt.Errorf("%q: want the smaller size first", text)
		}
		return s, err
	}
	if !strings.Contains(text, "x") {
		n := one(text)
		return Size{Low: n, High: n}, err
	}
	for part := range strings.SplitSeq(text, ",") {
		bytes, share, _ := strings.Cut(part, "x")
		w := Weight{Bytes: one(bytes)}
		var bad error
		if w.Share, bad = strconv.Atoi(share); err == nil && (bad != nil || w.Share < 1 || w.Share > mostShare) {
			err = fmt.Errorf("%q: want a size and its weight, a whole number, such as 576x4", part)
		}
		s.Mixture = append(s.Mixture, w)
	}
	if err == nil && len(s.Mixture) > mostWeights {
		err = fmt.Errorf("%q: want at most %d sizes", text, mostWeights)
	}
	return s, err
}
