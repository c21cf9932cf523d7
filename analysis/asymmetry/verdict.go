package asymmetry

import (
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// verdict says what a comparison comes to.
func verdict(c measure.RouteComparison, there, back int, ends Ends) (word, says string) {
	lengths := ends.Reached && ends.Returned && !ends.Translated && there != back
	hidden := ends.Reached && !ends.Returned && c.ReturnHopsByTTL > 0 && c.ReturnHopsByTTL != there
	switch {
	case c.OtherLinks > 0 && lengths:
		return measure.RoutesDiffer, fmt.Sprintf("the ways there and back differ: %s there, %d back; %s", quantity.FormatCount(there, "hop"), back, shares(c))
	case c.OtherLinks > 0:
		return measure.RoutesDiffer, "the ways there and back differ: " + shares(c)
	case lengths:
		return measure.RoutesDiffer, fmt.Sprintf("the ways there and back differ in length: %s there, %d back; %s", quantity.FormatCount(there, "hop"), back, shares(c))
	case hidden:
		return measure.RoutesDiffer, fmt.Sprintf("the ways there and back differ in length: %s there, %d back by the TTL of answers", quantity.FormatCount(there, "hop"), c.ReturnHopsByTTL)
	case c.UnknownLinks == 0 && c.SharedLinks > 0 && ends.Reached:
		return measure.RoutesSame, fmt.Sprintf("the ways there and back are the same: they share %s", quantity.FormatCount(c.SharedLinks, "link"))
	}
	return measure.RoutesUnknown, "it cannot be told whether the ways there and back are the same: " + shares(c)
}

func shares(c measure.RouteComparison) string {
	var parts []string
	for _, p := range []struct {
		count int
		what  string
	}{{c.SharedLinks, "with a link that both share"}, {c.OtherLinks, "with links that are not the same"}, {c.UnknownLinks, "of which nothing tells"}} {
		if p.count > 0 {
			parts = append(parts, quantity.FormatCount(p.count, "place")+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}
