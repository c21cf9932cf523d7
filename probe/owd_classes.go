package probe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/analysis/passage"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// Classes are marks whose packets take turns in one run, so that they meet the same queues: what differs between them is how the path treats them.

// maxClasses is how many of them a run compares: each has a share of its packets.
const maxClasses = 8

// classesWanted says what marks are.
const classesWanted = "give one or several of " + dscpValues + ", such as ef,be,le"

// readClasses reads "ef,be,le"; one alone is no class.
func readClasses(text string) (marks []int, err error) {
	for name := range strings.SplitSeq(text, ",") {
		dscp, err := quantity.ParseDSCP(name)
		if err != nil || slices.Contains(marks, dscp) {
			return nil, &input.Error{Field: "DSCP", Value: text, Remedy: classesWanted}
		}
		marks = append(marks, dscp)
	}
	if len(marks) > maxClasses {
		return nil, &input.Error{Field: "DSCP", Value: text, Remedy: fmt.Sprintf("give at most %d", maxClasses)}
	}
	return marks, nil
}

// markField is the parameter of a mark, or of several.
func markField() binding[OWD] {
	return binding[OWD]{Type: "code points", set: func(into *OWD, v any) string {
		text := plainText(v)
		marks, err := readClasses(text)
		switch {
		case err != nil:
			return classesWanted
		case len(marks) == 1:
			into.DSCP = marks[0]
		default:
			into.Classes = text
		}
		return ""
	}, get: func(of *OWD) any {
		if of.Classes != "" {
			return of.Classes
		}
		return unlessZero(of.DSCP, any(float64(of.DSCP)))
	}}
}

// checkClasses refuses classes where packets cannot have marks of their own.
func (p OWD) checkClasses() error {
	if p.Classes == "" {
		return nil
	}
	if p.Proto == protoOWAMP {
		return &input.Error{Field: "DSCP", Value: p.Classes, Remedy: "all packets of owamp have one mark; give one, or ask for proto stamp"}
	}
	_, err := readClasses(p.Classes)
	return err
}

// classOf is which of n classes a packet is of: each once in a round, each at every place of a round in turn.
func classOf(index, n int) int { return (index + index/n) % n }

// classFigures are packets by class, with what became of them on the way there, in the order of sending.
type classFigures struct {
	name   string
	delays []float64 // stat.Lost of those that did not come
	lost   []bool
}

// classesOf divides packets by class, of which the first is the one of that index of the session. Where it is not known which way a packet was lost, it counts as lost.
func classesOf(classes string, first int, packets []owdPacket, ways *passage.Ways) []classFigures {
	names := strings.Split(classes, ",")
	all := make([]classFigures, len(names))
	for i, name := range names {
		all[i].name = name
	}
	for i := range packets {
		if ways.Counted && i >= len(ways.Forward) { // nobody knows which way the last ones were lost
			break
		}
		c := &all[classOf(first+i, len(names))]
		delay, lost := stat.Lost, !packets[i].answeredInTime()
		if !lost {
			delay, _, _ = packets[i].delays()
		}
		if ways.Counted {
			lost = ways.Forward[i]
		}
		c.delays, c.lost = append(c.delays, delay), append(c.lost, lost)
	}
	return all
}

// sample is a class as a Result has it.
func (c *classFigures) sample() measure.ClassSample {
	dscp, _ := quantity.ParseDSCP(c.name) // readClasses has read it
	s := measure.ClassSample{Name: c.name, DSCP: dscp, Sent: len(c.lost)}
	for _, lost := range c.lost {
		if lost {
			s.Lost++
		}
	}
	arrived := slices.DeleteFunc(slices.Clone(c.delays), math.IsNaN)
	if len(arrived) > 0 {
		f := stat.Summarize(arrived)
		s.MinSeconds, s.MedianSeconds, s.P95Seconds = &f.Min, &f.Median, &f.P95
	}
	return s
}

// compareClasses says which class is served first and which loses more, each against the next one in the order of their medians, or of their losses.
func compareClasses(all []classFigures) string {
	var said []string
	median := func(c classFigures) float64 {
		arrived := slices.DeleteFunc(slices.Clone(c.delays), math.IsNaN)
		if len(arrived) == 0 {
			return math.Inf(1)
		}
		slices.Sort(arrived)
		return stat.Median(arrived)
	}
	ordered := slices.Clone(all)
	slices.SortStableFunc(ordered, func(a, b classFigures) int { return cmp.Compare(median(a), median(b)) })
	for i := range ordered[1:] {
		first, second := ordered[i], ordered[i+1]
		if s, enough := stat.CompareDelays(first.delays, second.delays); enough && s.Low > 0 {
			said = append(said, fmt.Sprintf("%s is served before %s: it takes %s less (%s to %s)", first.name, second.name, quantity.FormatSeconds(s.Estimate),
				quantity.FormatSeconds(s.Low), quantity.FormatSeconds(s.High)))
		}
	}
	ratio := func(c classFigures) float64 { return float64(fatesOf(c.lost).lost) / float64(max(1, len(c.lost))) }
	slices.SortStableFunc(ordered, func(a, b classFigures) int { return cmp.Compare(ratio(a), ratio(b)) })
	for i := range ordered[1:] {
		first, second := ordered[i], ordered[i+1]
		if d := stat.CompareLosses(first.lost, second.lost); d.Low > 0 {
			said = append(said, fmt.Sprintf("%s loses more than %s: %s against %s", second.name, first.name, quantity.FormatRatio(d.Second.Ratio),
				quantity.FormatRatio(d.First.Ratio)))
		}
	}
	if len(said) == 0 {
		return "no difference shows between the classes"
	}
	return strings.Join(said, "; ")
}

// reportClasses fills in what classes tell of the way there.
func (r *owdRun) reportClasses(result *measure.Result, packets []owdPacket, ways *passage.Ways) {
	if r.Classes == "" || len(packets) == 0 {
		return
	}
	all := classesOf(r.Classes, r.first, packets, ways)
	for i := range all {
		result.Samples.Classes = append(result.Samples.Classes, all[i].sample())
	}
	for i := range result.Samples.Echoes {
		result.Samples.Echoes[i].Class = all[classOf(r.first+i, len(all))].name
	}
	result.Parameters["priority"] = compareClasses(all)
}
