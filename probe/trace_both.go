package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/analysis/asymmetry"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/ndt7"
	"github.com/pathwise-net/pathwise/proto/retrace"
	"github.com/pathwise-net/pathwise/quantity"
)

// checkBoth says what does not go with Both, or is of no use without it.
func (t Trace) checkBoth() error {
	switch {
	case t.Both && t.Multipath:
		return &input.Error{Field: "both", Value: "true", Remedy: "leave away multipath, which finds ways there alone"}
	case t.Both && t.Protocol == traceTCP:
		return &input.Error{Field: "protocol", Value: t.Protocol, Remedy: "give udp or icmp with both: a responder tries no TCP ports of who asks it"}
	case !t.Both && t.ResponderPort != 0:
		return &input.Error{Field: "responder port", Value: strconv.Itoa(t.ResponderPort), Remedy: "give it with both"}
	}
	return checkRange("responder port", t.ResponderPort, 0, 65535)
}

// traceResponderPort is where `pathwise respond` traces back, and tells what SYNs looked like as they arrived.
const traceResponderPort = ndt7.DefaultPort

// openingTimeout is how long the connection to the responder may take to open: the kernel sends SYNs at 0 and 1 s (RFC 6298, 2.1).
const openingTimeout = 3 * time.Second

// back has the far end trace the way back, and puts that beside the way there, which result has.
func (t Trace) back(ctx context.Context, result *measure.Result) error {
	target, err := netip.ParseAddr(result.Target.Address)
	if err != nil {
		return err
	}
	at := netip.AddrPortFrom(target, uint16(t.ResponderPort))
	conn, err := dialResponder(ctx, at)
	if err != nil {
		return err
	}
	defer conn.Close()
	found, err := retrace.Request(ctx, conn, retrace.Ask{Protocol: t.Protocol, MaxTTL: t.MaxTTL, Queries: t.Queries, Timeout: t.Timeout, Interval: t.Interval, DSCP: t.DSCP, Secret: t.Secret})
	if err != nil {
		return fmt.Errorf("at %v: %w", at, err)
	}
	result.Samples.Return = returnOf(found, target, result.Samples.Hops, result.Samples.Route)
	if n := len(found.Hops); found.Whole.Reached && n > 0 {
		result.Metrics[measure.ReverseHopCount] = float64(n)
	}
	if c := result.Samples.Return.Comparison; c.SharedLinks+c.OtherLinks > 0 {
		result.Metrics[measure.OneWayLinks] = float64(c.OtherLinks)
	}
	return nil
}

// returnOf is what a Result has of a way back. there is the way to the target, and what it is as a whole.
func returnOf(found retrace.Back, target netip.Addr, there []measure.Hop, whole *measure.RouteSample) *measure.ReturnRoute {
	local, seen := found.Local.Addr().WithZone(""), found.Seen.Addr().WithZone("")
	ends := asymmetry.Ends{Returned: found.Whole.Reached, Translated: local != seen, Caller: networkOf(local)}
	if target = target.WithZone(""); found.Far == target { // else what answers there is a translator
		ends.Reached = whole != nil && whole.Reached && whole.LastForwards < len(there)
		if found.NetworkBits > 0 {
			ends.Target, _ = target.Prefix(found.NetworkBits)
		}
	}
	return &measure.ReturnRoute{Local: local.String(), Seen: seen.String(), Hops: found.Hops, Route: found.Whole, Comparison: asymmetry.Compare(there, found.Hops, ends)}
}

// networkOf is the network of the interface of this host that has an address; the zero value: none is known.
func networkOf(address netip.Addr) netip.Prefix {
	all, _ := net.InterfaceAddrs() // without them nothing is known
	for _, one := range all {
		if network, err := netip.ParsePrefix(one.String()); err == nil && network.Addr() == address && !network.IsSingleIP() {
			return network.Masked()
		}
	}
	return netip.Prefix{}
}

// TraceBack finds the route to an address for who asks from there. It is what a retrace.Responder needs.
func TraceBack(ctx context.Context, to netip.Addr, ask retrace.Ask) (retrace.Route, error) {
	if ask.Size > 0 {
		return answerNarrowing(ctx, to, ask)
	}
	r, err := traceBack(to, ask).Do(ctx)
	if r.Samples.Route == nil {
		return retrace.Route{}, cmp.Or(err, errors.New("nothing was sent"))
	}
	found := retrace.Route{Hops: r.Samples.Hops, Whole: *r.Samples.Route}
	if err != nil {
		return found, err
	}
	if own, err := netip.ParseAddr(r.Source.Address); err == nil {
		if network := networkOf(own); network.IsValid() {
			found.NetworkBits = network.Bits()
		}
	}
	return found, nil
}

// traceBack is the trace that an ask without a size is answered by.
func traceBack(to netip.Addr, ask retrace.Ask) Trace {
	return Trace{Target: to.String(), Protocol: ask.Protocol, MaxTTL: ask.MaxTTL, Queries: ask.Queries, Timeout: ask.Timeout, Interval: ask.Interval, DSCP: ask.DSCP}
}

// bothText writes the ways there and back side by side, a line for each place.
func bothText(w io.Writer, r *measure.Result) {
	back, there := r.Samples.Return, r.Samples.Hops
	fmt.Fprintf(w, "     %-34s      back (from below)\n", "there")
	sign := map[string]string{measure.LinkShared: "=", measure.LinkOther: "/", measure.LinkUnknown: "?"}
	for _, l := range back.Comparison.Links {
		line := fmt.Sprintf("%s  %s  %s", place(there, l.Forward, 34), sign[l.Mark], place(back.Hops, l.Return, 0))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(w, back.Comparison.Says)
	if back.Local != back.Seen {
		fmt.Fprintf(w, "this host is %s, and there %s: addresses are translated, so the way back is known as far as the translator\n", back.Local, back.Seen)
	}
	for _, route := range []struct {
		of    string
		route *measure.RouteSample
	}{{"there", r.Samples.Route}, {"back", &back.Route}} {
		for _, line := range RouteLines(route.route) {
			fmt.Fprintf(w, "%s: %s\n", route.of, line)
		}
	}
}

// place is a hop in its column: its TTL, who answered, and the shortest round trip.
func place(hops []measure.Hop, ttl, width int) string {
	if ttl < 1 || ttl > len(hops) { // 0: there is none; the others: of a Result that was made elsewhere
		return fmt.Sprintf("%3s  %-*s", "", width, "")
	}
	h := hops[ttl-1]
	text := fmt.Sprintf("%-24s", cmp.Or(strings.Join(h.Addresses, " "), "-"))
	if rtt, answered := h.Least(); answered {
		text += " " + quantity.FormatSeconds(rtt)
	}
	if h.Annotation != "" {
		text += " " + h.Annotation
	}
	return fmt.Sprintf("%3d  %-*s", ttl, width, text)
}
