package stat

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// losing are n packets of which k are lost, as far apart as may be, so that none of it is a burst.
func losing(k, n int) []bool {
	lost := make([]bool, n)
	for i := range k {
		lost[i*n/k] = true
	}
	return lost
}

func TestCompareLosses(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second []bool
		want          LossDifference
		differs       bool
	}{
		{"nothing", nil, nil, LossDifference{LossInterval{0, 0, 1}, LossInterval{0, 0, 1}, 0, -1, 1}, false},
		// Newcombe (1998), table II, method 10: 56/70 less 48/80 is 0.2, interval 0.0524 to 0.3339.
		{"48 of 80, 56 of 70", losing(48, 80), losing(56, 70), LossDifference{LossInterval{0.6, 0.4904, 0.7004}, LossInterval{0.8, 0.6918, 0.8770}, 0.2, 0.0524, 0.3339}, true},
		// And 9/10 less 3/10 is 0.6, interval 0.1705 to 0.8090.
		{"3 of 10, 9 of 10", losing(3, 10), losing(9, 10), LossDifference{LossInterval{0.3, 0.1078, 0.6032}, LossInterval{0.9, 0.5958, 0.9821}, 0.6, 0.1705, 0.8090}, true},
		{"none of 10 each", losing(0, 10), losing(0, 10), LossDifference{LossInterval{0, 0, 0.2775}, LossInterval{0, 0, 0.2775}, 0, -0.2775, 0.2775}, false},
	} {
		got := CompareLosses(c.first, c.second)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 6e-5)); diff != "" || got.Differs() != c.differs {
			t.Errorf("%s: differs %v (-want +got):\n%s", c.name, got.Differs(), diff)
		}
	}
}

// Of samples that lose alike 5 of 100 comparisons say that one loses more, also where losses come in bursts, within what chance does to so many runs.
// Over 6000 runs it was 4.7 to 5.4 of 100 for losses by chance, and for bursts of 3 on average 6.7 of 500 packets, 5.7 of 2000 and 5.3 of 8000.
func TestCompareLossesByChance(t *testing.T) {
	const runs, packets = 200, 2000
	_, mostWrong := BinomialInterval(runs, 0.057, 0.999)
	for _, leave := range []float64{0.95, 0.3} { // how likely a packet after a lost one arrives: by chance, and in bursts of 3
		random := rand.New(rand.NewPCG(1998, uint64(100*leave)))
		sample := func(ratio float64) (lost []bool) {
			bad := random.Float64() < ratio
			for range packets {
				lost = append(lost, bad)
				if bad {
					bad = random.Float64() >= leave
				} else {
					bad = random.Float64() < leave*ratio/(1-ratio)
				}
			}
			return lost
		}
		wrong, found := 0, 0
		for range runs {
			if CompareLosses(sample(0.05), sample(0.05)).Differs() {
				wrong++
			}
			if d := CompareLosses(sample(0.05), sample(0.15)); d.Low > 0 {
				found++
			}
		}
		t.Logf("leaving a loss with %v: %d of %d wrong, found %d", leave, wrong, runs, found)
		if wrong > mostWrong || found < 195 {
			t.Errorf("leaving a loss with %v: %d of %d wrong, found %d", leave, wrong, runs, found)
		}
	}
}
