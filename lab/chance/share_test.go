package chance

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab/notation"
)

func TestShare(t *testing.T) {
	seed := uint64(0)
	for _, share := range []float64{0.01, 0.2, 0.7} {
		for _, c := range []float64{0, 0.2, 0.9} {
			seed++
			s := Share{Ratio: notation.Ratio(share), Correlation: notation.Ratio(c)}
			p := s.New(seeded(seed))
			hits := make([]bool, packets)
			as := make([]float64, packets)
			count := 0
			for i := range hits {
				hits[i] = p.Hit()
				if hits[i] {
					count++
					as[i] = 1
				}
			}
			checkShare(t, s.String(), count, packets, share, (1+c)/(1-c))
			for _, lag := range []int{1, 3} {
				want := math.Pow(c, float64(lag))
				// The standard error of a rare event's autocorrelation is that of the few pairs there are.
				margin := z9995 / math.Sqrt(packets*share*(1-share))
				if got := autocorrelation(as, lag); math.Abs(got-want) > margin {
					t.Errorf("%v lag %d: autocorrelation %.4f; want %.4f within %.4f", s, lag, got, want, margin)
				}
			}
			inRuns, gaps := runs(hits)
			checkChiSquare(t, s.String()+" runs", inRuns, geometric((1-c)*(1-share)))
			checkChiSquare(t, s.String()+" gaps", gaps, geometric((1-c)*share))
		}
	}
}

func TestShareOfNoneAndAll(t *testing.T) {
	for share, want := range map[notation.Ratio]bool{0: false, 1: true} {
		p := (&Share{Ratio: share, Correlation: 0.5}).New(seeded(0))
		for range 1000 {
			if p.Hit() != want {
				t.Fatalf("share of %v: hit: %v", share, !want)
			}
		}
	}
}

// The first packet is picked as often as any other.
func TestShareStartsAnywhere(t *testing.T) {
	s := Share{Ratio: 0.3, Correlation: 0.9}
	count := 0
	random := seeded(0)
	for range packets {
		if s.New(random).Hit() {
			count++
		}
	}
	checkShare(t, "first", count, packets, 0.3, 1)
}

func TestCorruptPicksAsShare(t *testing.T) {
	c := Corrupt{Ratio: 0.3, Correlation: 0.4, Hidden: true}
	p, q := c.New(seeded(1)), (&Share{Ratio: 0.3, Correlation: 0.4}).New(seeded(1))
	for i := range 1000 {
		if p.Hit() != q.Hit() {
			t.Fatalf("packet %d: corrupt and share differ", i)
		}
	}
}

func TestReorderByShare(t *testing.T) {
	p := (&Reorder{Ratio: 0.02}).New(seeded(0))
	count := 0
	for range packets {
		switch p.Extra() {
		case int64(10 * time.Millisecond):
			count++
		case 0:
		default:
			t.Fatal("neither held back by 10 ms nor not")
		}
	}
	checkShare(t, "held", count, packets, 0.02, 1)
}

func TestReorderByGap(t *testing.T) {
	for _, gap := range []notation.Count{1, 2, 5} {
		source := &words{from: rand.NewPCG(1, 2)}
		p := (&Reorder{Gap: gap, By: notation.Delay(3 * time.Millisecond)}).New(rand.New(source))
		for n := notation.Count(1); n <= 1000; n++ {
			want := int64(0)
			if n%gap == 0 {
				want = 3e6
			}
			if got := p.Extra(); got != want {
				t.Fatalf("gap %d: packet %d held back %d ns; want %d", gap, n, got, want)
			}
		}
		if source.n != 0 {
			t.Errorf("gap %d: took %d words; want none", gap, source.n)
		}
	}
}
