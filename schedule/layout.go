package schedule

import (
	"cmp"
	"math/bits"
	"slices"
	"time"
)

// position is the place of one round of one class in a frame.
type position struct {
	class  int // of the component
	cycle  int64
	number int   // in its cycle
	least  int64 // before which it must not begin
	start  int64 // as wished, then as placed
}

// layout places the rounds of a frame: each as near to its wish as the others let it, one after the other. A round
// belongs to the frame in which it would end.
//
//	wishes   evenly over each class's window, and if the frame is the cycle, at random within their share of it
//	forward  no round before the last one is over
//	back     the last one over by the end of the frame, and those before it by then; in a frame that is full, that may
//	         be before a cycle begins, by less than a round of each class
//	gather   what is less than room apart follows at once, so that what is left free is of use
func (p *Planner) layout(c *component, number int64) []position {
	from := number * int64(c.frame)
	until := from + int64(c.frame)
	var all []position
	for i, class := range c.classes {
		all = p.wishes(all, c, i, class, from, until)
	}
	slices.SortFunc(all, func(a, b position) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.class, b.class), cmp.Compare(a.number, b.number))
	})
	from = max(from, p.begun)
	free := from
	for i := range all {
		all[i].start = max(all[i].start, free)
		free = all[i].start + int64(c.classes[all[i].class].length)
	}
	limit := until
	for i := len(all) - 1; i >= 0; i-- {
		length := int64(c.classes[all[i].class].length)
		all[i].start = min(all[i].start, limit-length)
		limit = all[i].start
	}
	for len(all) > 0 && all[0].start < from { // too many, as after a change in mid-cycle: the first ones go
		all = all[1:]
	}
	free = from
	for i := range all {
		if all[i].start-free < int64(room) {
			all[i].start = min(all[i].start, max(free, all[i].least))
		}
		free = all[i].start + int64(c.classes[all[i].class].length)
	}
	return all
}

// room is what is left between rounds where there is any: a test on demand takes ten seconds as a rule, a light one
// that waits for its interfaces to be quiet about as much, and both shall begin soon.
const room = 30 * time.Second

// wishes appends the positions of a class that would end in (from, until].
func (p *Planner) wishes(all []position, c *component, index int, class *class, from, until int64) []position {
	class.grid.cycles(from-int64(class.window), until, func(cy cycle) {
		first := int(float64(from-cy.start)/class.stratum()) - 2
		last := int(float64(until-cy.start)/class.stratum()) + 2
		for j := max(0, first); j < min(class.rounds, last); j++ {
			wish := cy.start + class.offset(j)
			if wish < p.begun {
				continue
			}
			if slack := cy.start + class.offset(j+1) - wish - int64(class.length); slack > 0 && class.jitter(c) {
				s := stream(combine(p.seed, class.key, uint64(cy.number), uint64(j)))
				wish += int64(s.float() * float64(slack))
			}
			if end := wish + int64(class.length); end > from && end <= until {
				all = append(all, position{index, cy.number, j, max(cy.start, p.begun), wish})
			}
		}
	})
	return all
}

// jitter says whether rounds may be at random within their share of the cycle: where a frame is a cycle, so that it
// always has the same number of them.
func (c *class) jitter(of *component) bool { return c.period == of.frame && !c.packed }

// offset is where position j begins at the earliest, from the start of the cycle: rounded down, so that the last one
// ends in time.
func (c *class) offset(j int) int64 {
	high, low := bits.Mul64(uint64(j), uint64(c.window))
	quotient, _ := bits.Div64(high, low, uint64(c.rounds))
	return int64(quotient)
}

// times is when each position of a cycle begins; never, if it has no place.
func (p *Planner) times(c *component, index int, cy cycle) []int64 {
	class := c.classes[index]
	times := make([]int64, class.rounds)
	for i := range times {
		times[i] = never
	}
	last := floorDiv(cy.start+int64(class.window), int64(c.frame)) + 1
	for n := floorDiv(cy.start, int64(c.frame)); n <= last; n++ {
		for _, at := range p.layout(c, n) {
			if at.class == index && at.cycle == cy.number {
				times[at.number] = at.start
			}
		}
	}
	return times
}
