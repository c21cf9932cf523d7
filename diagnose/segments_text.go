package diagnose

import (
	"fmt"
	"math"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// narrower is by how much a link must carry less than those before it, to be told from them: what a capacity may be off, twice.
const narrower = 1 - 2*capacityError

// narrowest is the part that has the narrowest link of the whole: the first up to whose end no more passes than over the whole, where clearly
// more does up to its beginning.
func (a *aim) narrowest(marks []mark, from string) string {
	before, wide := from, true
	for _, m := range marks {
		switch {
		case m.carries == 0 || a.whole.carries == 0:
			return ""
		case m.carries*(1-capacityError) > a.whole.carries:
			wide = m.carries*narrower >= a.whole.carries
		case wide:
			return (&Segment{From: before, To: m.name}).Name()
		default:
			return ""
		}
		before = m.name
	}
	return ""
}

// blamePrefixes says which parts are to blame, and in a sentence why.
func (a *aim) blamePrefixes(all *Parts, marks []mark, passed, failed int) {
	switch {
	case !a.whole.moved && !a.whole.stuck:
		all.Verdict, all.Says = BlameUnknown, wholeUnknown
	case failed == len(marks) && (passed == len(marks) || a.hosts != ""):
		all.Verdict, all.Says = BlameNone, a.noBlame(all)
	case failed == len(marks):
		all.Verdict, all.Says = BlameUnknown, "No part is known to hold the path back; "+a.undecided(marks[passed:])
	default:
		for i := range all.Segments {
			if i >= passed && i <= failed || all.Segments[i].Outcome == Fails {
				all.Blamed = append(all.Blamed, all.Segments[i].Name())
			}
		}
		all.Verdict, all.Says = a.blamed(all, marks, passed, failed)
	}
}

// noBlame says that all parts pass, and what is known of the whole.
func (a *aim) noBlame(all *Parts) string {
	if a.hosts != "" && a.slow {
		return fmt.Sprintf("No part of the path holds it back: %s does.", a.hosts)
	}
	says := fmt.Sprintf("No part of the path holds it back: the whole reaches %s", quantity.FormatRate(a.whole.rate))
	if a.whole.carries > 0 {
		says += fmt.Sprintf(" of the %s that its narrowest link can carry", quantity.FormatRate(max(a.whole.rate, a.whole.carries)))
	}
	if all.Narrowest != "" {
		says += ", which is in " + all.Narrowest
	}
	return says + "."
}

// blamed names the part that is to blame, or those that are left, with what would tell them apart.
func (a *aim) blamed(all *Parts, marks []mark, passed, failed int) (Blame, string) {
	means := marks[failed].means
	if passed == failed {
		says := fmt.Sprintf("%s holds the path back: up to %s %s.", all.Blamed[0], marks[failed].name, means)
		if passed > 0 {
			if could := marks[passed-1].could; could != nil {
				says += fmt.Sprintf(" Up to %s the whole could reach %s.", marks[passed-1].name, quantity.FormatRate(could.Value))
			}
		}
		if len(all.Blamed) > 1 {
			return BlameSeveral, says + fmt.Sprintf(" So does %s, by itself.", strings.Join(all.Blamed[1:], " and "))
		}
		return BlameOne, says
	}
	return BlameLeft, fmt.Sprintf("%s: one of these holds the path back, for up to %s %s. %s", strings.Join(all.Blamed, ", "), marks[failed].name,
		means, upperFirst(a.undecided(marks[passed:failed])))
}

// undecided says of marks about which nothing is decided what would decide it.
func (a *aim) undecided(marks []mark) string {
	var parts []string
	for _, m := range marks {
		text := fmt.Sprintf("up to %s %s", m.name, m.means)
		if m.limit == LimitLoss && a.evenly > 0 {
			back := ""
			if a.way == measure.Reverse {
				back = " -R"
			}
			more := model.NewRunLengthTest(a.run).Enough(m.lost) - m.sent
			text += fmt.Sprintf("; without another loss `pathwise throughput %s%s --proto udp --rate %.0fkbit --len %d -t %.0f` would tell", m.name, back,
				a.evenly/1000, sectionBytes, max(1, math.Ceil(more*sectionBytes*8/a.evenly)))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ") + "."
}

// upperFirst begins a sentence.
func upperFirst(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
