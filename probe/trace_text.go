package probe

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// traceText writes a route, a line for each hop, and what they say as a whole.
func traceText(w io.Writer, r *measure.Result) {
	fmt.Fprintf(w, "route to %s (%s)\n", r.Target.Name, r.Target.Address)
	if r.Samples.Rounds != nil {
		roundsText(w, r)
		return
	}
	if r.Samples.Paths != nil {
		fmt.Fprint(w, PathsText(r.Samples.Paths))
		writeKnown(w, r)
		return
	}
	if r.Samples.Middleboxes != nil {
		middleboxText(w, r)
		return
	}
	if r.Samples.Return != nil {
		bothText(w, r)
		writeKnown(w, r)
		return
	}
	for i, h := range Straight(r.Samples.Hops, r.Samples.Route) {
		if i > 0 {
			h = onlyNew(h, r.Samples.Hops[i-1])
		}
		fmt.Fprintln(w, hopLine(h))
		for _, line := range hopKnown(h, r.Samples.Addresses) {
			fmt.Fprintln(w, line)
		}
	}
	for _, line := range WholeLines(r) {
		fmt.Fprintln(w, line)
	}
}

// WholeLines say what a trace found of the route as a whole, and of who narrows the way back.
func WholeLines(r *measure.Result) []string {
	lines := RouteLines(r.Samples.Route)
	if line := backNarrowsLine(r); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// onlyNew is a hop without the marks and the MTU that the hop before it told already.
func onlyNew(h, before measure.Hop) measure.Hop {
	same := func(a, b *int) bool { return a != nil && b != nil && *a == *b }
	if same(h.DSCP, before.DSCP) {
		h.DSCP = nil
	}
	if same(h.ECN, before.ECN) {
		h.ECN = nil
	}
	if h.MTU == before.MTU {
		h.MTU = 0
	}
	return h
}

// RouteLines say what a trace found as a whole, where that is not that all is well. route may be nil.
func RouteLines(route *measure.RouteSample) (lines []string) {
	if route == nil {
		return nil
	}
	if route.FirstSilent > 0 && !slices.ContainsFunc(route.Remarks, func(r measure.RouteRemark) bool { return r.Kind == measure.RemarkSilent }) {
		lines = append(lines, fmt.Sprintf("hop %d does not answer, but it forwards", route.FirstSilent)) // an agent of before there were remarks
	}
	for _, r := range route.Remarks {
		if text := remarkText(r); text != "" {
			lines = append(lines, text)
		}
	}
	switch {
	case route.NotForwarding > 0 && route.Certain && route.Why != "":
		lines = append(lines, fmt.Sprintf("hop %d says that it does not forward: %s", route.NotForwarding, route.Why))
	case route.NotForwarding > 0 && route.Certain:
		lines = append(lines, fmt.Sprintf("hop %d says that it does not forward", route.NotForwarding))
	case route.NotForwarding > 0:
		lines = append(lines, fmt.Sprintf("hop %d is the first of which nothing shows that it forwards: nothing beyond it answers", route.NotForwarding))
	}
	for _, n := range route.Narrowings {
		lines = append(lines, narrowingLine(n))
	}
	if route.DSCPChanged > 0 {
		lines = append(lines, fmt.Sprintf("hop %d is the first that packets reach with another DSCP than they left with", route.DSCPChanged))
	}
	return lines
}

// hopLine is who answered at a hop, and after how long, and what it told beside.
func hopLine(h measure.Hop) string {
	var rtts []string
	for _, v := range h.RTTSeconds {
		if v == nil {
			rtts = append(rtts, "*")
		} else {
			rtts = append(rtts, quantity.FormatSeconds(*v))
		}
	}
	who := cmp.Or(strings.Join(h.Addresses, " "), "-")
	line := fmt.Sprintf("%3d  %-24s %s", h.TTL, who, strings.Join(rtts, "  "))
	if h.Annotation != "" {
		line += "  " + h.Annotation
	}
	if h.Reply != "" {
		line += "  (" + h.Reply + ")"
	}
	for _, told := range HopTells(h) {
		line += "  " + told
	}
	return line
}

// HopTells are what a hop told beside that it is there, each in the few words of traceroute where it has some: the labels of
// <MPLS:L=23990,E=0,S=1,T=1> are label, traffic class, bottom of stack and TTL.
func HopTells(h measure.Hop) (tells []string) {
	if h.ReturnHops > 0 && h.ReturnHops != h.TTL {
		tells = append(tells, fmt.Sprintf("[%d back]", h.ReturnHops))
	}
	if h.MTU > 0 {
		tells = append(tells, fmt.Sprintf("[MTU %d]", h.MTU))
	}
	if h.DSCP != nil {
		tells = append(tells, fmt.Sprintf("[DSCP %d]", *h.DSCP))
	}
	if h.ECN != nil {
		tells = append(tells, fmt.Sprintf("[ECN %d]", *h.ECN))
	}
	switch {
	case h.Translated == "":
	case strings.HasPrefix(h.Translated, translatedChecksum):
		tells = append(tells, "[NAT]")
	case strings.HasPrefix(h.Translated, translatedTarget):
		tells = append(tells, "["+h.Translated+"]")
	default:
		tells = append(tells, "[from "+h.Translated+"]")
	}
	if h.QuotedTTL != nil {
		tells = append(tells, fmt.Sprintf("[TTL %d]", *h.QuotedTTL))
	}
	var labels []string
	for i, l := range h.MPLS {
		bottom := 0
		if i == len(h.MPLS)-1 {
			bottom = 1
		}
		labels = append(labels, fmt.Sprintf("L=%d,E=%d,S=%d,T=%d", l.Label, l.Class, bottom, l.TTL))
	}
	if labels != nil {
		tells = append(tells, "<MPLS:"+strings.Join(labels, "/")+">")
	}
	for _, i := range h.Interfaces {
		tells = append(tells, "<"+interfaceText(i)+">")
	}
	if h.Fault != "" {
		tells = append(tells, "["+h.Fault+"]")
	}
	return tells
}

func interfaceText(i measure.HopPort) string {
	text := i.Role
	for _, part := range []string{i.Name, i.Address} {
		if part != "" {
			text += " " + part
		}
	}
	if i.Index > 0 {
		text += fmt.Sprintf(" number %d", i.Index)
	}
	if i.MTU > 0 {
		text += fmt.Sprintf(" MTU %d", i.MTU)
	}
	return text
}
