package accuracy

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// DefaultSeed draws the plan whose figures are published. Labs of calibrations have seeds below leastSeed.
const DefaultSeed = 20261123

// leastSeed keeps the labs of a plan apart from those whose seeds people write.
const leastSeed = 1 << 20

// Plan draws so many samples of each cause, of each kind of healthy path and of each pair of faults. The same seed gives the same
// plan, and of a longer plan the shorter one is a part. The first samples of all causes come first, then the second of all: wherever a
// run is cut, it has gone through all causes alike. It is an error where no path was drawn on which a fault binds.
func Plan(seed uint64, each int) ([]Sample, error) {
	var plan []Sample
	for i := range each {
		for c := range causes {
			s, err := causes[c].sample(seed, i)
			if err != nil {
				return nil, fmt.Errorf("draw sample: %w", err)
			}
			plan = append(plan, s)
		}
	}
	return plan, nil
}

// mostDraws is how often a path is drawn in a cell before it is taken for one in which the fault cannot bind.
const mostDraws = 200

// sample draws the sample of a cause with a number. Cells take turns, neighbours far apart, and controls move on by one whenever all
// cells had theirs.
func (c *cause) sample(seed uint64, number int) (Sample, error) {
	name := fmt.Sprintf("%s-%03d", c.name, number)
	r := rand.New(rand.NewPCG(seed, hash(name)))
	s := Sample{Name: name, Cause: c.name, Sort: cmp.Or(c.sort, Fault), Seed: leastSeed + r.Uint64N(1<<40), Expect: c.expect}
	var err error
	if s.Path, s.Strength, err = c.draw(r, number); err != nil {
		return Sample{}, fmt.Errorf("%s: %w", name, err)
	}
	f := c.fault(&s.Path, s.Strength)
	s.Says, s.Leaves, s.Binds, s.Mend, s.Lasts = f.says, f.leaves, f.binding(s.Sort), f.mend, f.lasts
	s.Case = f.render(&s)
	return s, nil
}

// update takes into a sample that was played what its cause says today: what it should be called, and whether it can be mended.
func (s *Sample) update() {
	for i := range causes {
		if c := &causes[i]; c.name == s.Cause {
			p := s.Path
			s.Expect, s.Lasts = c.expect, c.fault(&p, s.Strength).lasts
		}
	}
}

func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// errNeverBinds says that a fault bound on none of mostDraws paths of any cell.
var errNeverBinds = errors.New("no path on which the fault binds was drawn")

// draw draws a path, and on it a strength at which the fault should bind.
func (c *cause) draw(r *rand.Rand, number int) (Path, float64, error) {
	if number < len(c.seen) {
		return c.seen[number].Path, c.seen[number].strength, nil
	}
	turn := number + int(hash(c.name)%uint64(cells*len(controls))) // causes begin with different cells
	control := c.controls[(turn/cells+turn)%len(c.controls)]
	for step := range cells {
		for range mostDraws {
			p := drawPath(r, (4*turn+step)%cells, control) // 4 has no divisor in common with 9
			if v, ok := c.strength(r, &p); ok {
				return p, v, nil
			}
		}
	}
	return Path{}, 0, errNeverBinds
}
