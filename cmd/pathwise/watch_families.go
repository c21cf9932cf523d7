package main

import (
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// compares says whether the targets are hosts over both families, IPv4 first.
func (p *pingWatch) compares() bool {
	return len(p.targets) > 1 && p.targets[0].name == p.targets[1].name && p.targets[0].over != p.targets[1].over
}

// overText is the family of a target, where families are compared.
func (p *pingWatch) overText(t *pingTarget) string {
	if !p.compares() {
		return ""
	}
	return " " + t.over.String()
}

// overWidth is how many columns of a table's names are the family's.
func (p *pingWatch) overWidth() int { return len(p.overText(p.targets[0])) }

// comparison says which family of a host is faster. Medians that differ by less than comparedWithin are called alike.
func comparison(four, six *pingTarget) string {
	a, b := four.answered(), six.answered()
	switch {
	case four.why != "" && six.why != "":
		return four.name + " could be measured over neither IPv4 nor IPv6."
	case four.why != "":
		return four.name + " could not be measured over IPv4."
	case six.why != "":
		return four.name + " could not be measured over IPv6."
	case len(a) == 0 && len(b) == 0:
		return four.name + " answers over neither IPv4 nor IPv6."
	case len(a) == 0:
		return four.name + " answers over IPv6 alone."
	case len(b) == 0:
		return four.name + " answers over IPv4 alone."
	}
	slower, by := "IPv6 takes", stat.Median(b)-stat.Median(a)
	if by < 0 {
		slower = "IPv4 takes"
	}
	if math.Abs(by) < comparedWithin*stat.Median(a) {
		return "To " + four.name + " IPv4 and IPv6 take as long, as a rule."
	}
	return fmt.Sprintf("To %s %s %s longer, as a rule.", four.name, slower, quantity.FormatSeconds(math.Abs(by)))
}

// comparedWithin is the share of a round trip below which a difference of two medians of some dozens says nothing.
const comparedWithin = 0.05
