package retrace

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
)

// report is what came of the trace.
type report struct {
	Hops        []measure.Hop       `json:"hops"`
	Route       measure.RouteSample `json:"route"`
	NetworkBits int                 `json:"network_bits,omitempty"`
	Error       string              `json:"error,omitempty"`
}

// reportOf is a route as it is told. Of a hop that tells more than a caller takes the rest is left out.
func reportOf(r Route) report {
	told := report{Hops: slices.Clone(r.Hops), Route: r.Whole, NetworkBits: r.NetworkBits}
	for i := range told.Hops {
		h := &told.Hops[i]
		h.Addresses, h.Interfaces = first(mostAddresses, h.Addresses), first(mostAddresses, h.Interfaces)
		h.MPLS, h.RTTSeconds = first(mostLabels, h.MPLS), first(MostQueries, h.RTTSeconds)
	}
	return told
}

// first are the first of some, no more than most.
func first[T any](most int, all []T) []T { return all[:min(most, len(all))] }

// readReport reads a route, and takes out of its texts what a terminal would obey.
func readReport(line []byte) (r Route, err error) {
	var told report
	if err := document.JSON(line, mostRoute, &told); err != nil {
		return r, fmt.Errorf("read route: %w", err)
	}
	if told.Error != "" {
		return r, fmt.Errorf("the responder says: %s", jsonlines.Printable(told.Error))
	}
	if len(told.Hops) > MostTTL {
		return r, fmt.Errorf("a route of %d hops: want no more than %d", len(told.Hops), MostTTL)
	}
	if told.Hops == nil {
		told.Hops = []measure.Hop{} // a list in a Result, too, whatever a responder leaves out
	}
	for i := range told.Hops {
		if err := checkHop(&told.Hops[i], i+1); err != nil {
			return r, fmt.Errorf("hop %d: %w", i+1, err)
		}
	}
	if told.NetworkBits < 0 || told.NetworkBits > 128 {
		return r, fmt.Errorf("a network of %d bits: want 0 to 128", told.NetworkBits)
	}
	if err := checkWhole(&told.Route); err != nil {
		return r, err
	}
	return Route{Hops: told.Hops, Whole: told.Route, NetworkBits: told.NetworkBits}, nil
}

// checkWhole also takes out of texts what a terminal would obey.
func checkWhole(r *measure.RouteSample) error {
	if len(r.Remarks) > mostRemarks || len(r.Narrowings) > MostTTL {
		return fmt.Errorf("%d remarks and %d narrowings: want no more than %d and %d", len(r.Remarks), len(r.Narrowings), mostRemarks, MostTTL)
	}
	ttls := []int{r.FirstSilent, r.LastForwards, r.NotForwarding, r.DSCPChanged}
	for i := range r.Remarks {
		one := &r.Remarks[i]
		if len(one.TTLs) > MostTTL || len(one.Addresses) > MostTTL {
			return fmt.Errorf("a remark on %d hops and %d addresses: want no more than %d", len(one.TTLs), len(one.Addresses), MostTTL)
		}
		one.Kind = measure.RemarkKind(jsonlines.Printable(string(one.Kind)))
		for at, address := range one.Addresses {
			one.Addresses[at] = jsonlines.Printable(address)
		}
		ttls = append(ttls, one.TTLs...)
	}
	for i := range r.Narrowings {
		one := &r.Narrowings[i]
		if one.Address != "" {
			if err := checkAddress(one.Address); err != nil {
				return fmt.Errorf("a narrowing: %w", err)
			}
		}
		if one.Bytes < 0 || one.Bytes > MostSize {
			return fmt.Errorf("a narrowing to %d bytes: want 0 to %d", one.Bytes, MostSize)
		}
		ttls = append(ttls, one.TTL, one.Before)
	}
	for _, ttl := range ttls {
		if ttl < 0 || ttl > MostTTL {
			return fmt.Errorf("a TTL of %d: want 0 to %d", ttl, MostTTL)
		}
	}
	r.Answers, r.Why = jsonlines.Printable(r.Answers), jsonlines.Printable(r.Why)
	return nil
}

// checkHop also takes out of texts what a terminal would obey.
func checkHop(h *measure.Hop, ttl int) error {
	if h.TTL != ttl || len(h.Addresses) > mostAddresses || len(h.MPLS) > mostLabels || len(h.Interfaces) > mostAddresses || len(h.RTTSeconds) > MostQueries {
		return fmt.Errorf("TTL %d with %d addresses, %d labels, %d interfaces and %d times: want fewer, in order of TTL",
			h.TTL, len(h.Addresses), len(h.MPLS), len(h.Interfaces), len(h.RTTSeconds))
	}
	for _, address := range h.Addresses {
		if err := checkAddress(address); err != nil {
			return err
		}
	}
	for _, rtt := range h.RTTSeconds {
		if rtt != nil && (*rtt < 0 || *rtt > Longest.Seconds()) {
			return fmt.Errorf("a round trip of %v s: want no more than %v", *rtt, Longest)
		}
	}
	for i := range h.Interfaces {
		port := &h.Interfaces[i]
		port.Role, port.Name = jsonlines.Printable(port.Role), jsonlines.Printable(port.Name)
		if port.Address == "" {
			continue
		}
		if err := checkAddress(port.Address); err != nil {
			return err
		}
	}
	h.Reply, h.Annotation, h.Fault, h.Translated = jsonlines.Printable(h.Reply), jsonlines.Printable(h.Annotation), jsonlines.Printable(h.Fault), jsonlines.Printable(h.Translated)
	return nil
}

// checkAddress refuses what is no address, and one whose zone, which may be any text, a terminal would obey.
func checkAddress(text string) error {
	if _, err := netip.ParseAddr(text); err != nil {
		return err
	}
	if shown := jsonlines.Printable(text); shown != text {
		return fmt.Errorf("address %s: want a zone of letters", shown)
	}
	return nil
}
