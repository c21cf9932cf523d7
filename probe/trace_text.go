package probe

import (
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// traceText writes a route, a line for each hop.
func traceText(w io.Writer, r *measure.Result) {
	fmt.Fprintf(w, "route to %s (%s)\n", r.Target.Name, r.Target.Address)
	for _, h := range r.Samples.Hops {
		fmt.Fprintln(w, hopLine(h))
	}
}

// hopLine is who answered at a hop, and after how long.
func hopLine(h measure.Hop) string {
	var rtts []string
	for _, v := range h.RTTSeconds {
		if v == nil {
			rtts = append(rtts, "*")
		} else {
			rtts = append(rtts, quantity.FormatSeconds(*v))
		}
	}
	who := strings.Join(h.Addresses, " ")
	if who == "" {
		who = "-"
	}
	line := fmt.Sprintf("%3d  %-24s %s", h.TTL, who, strings.Join(rtts, "  "))
	if h.Reply != "" {
		line += "  (" + h.Reply + ")"
	}
	return line
}
