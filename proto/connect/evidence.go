package connect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// evidence says what each end saw, in lines that begin with where.
func (j *judge) evidence() (lines []string) {
	lines = append(lines, "here: "+j.tries())
	if j.near.Watched {
		lines = append(lines, "here: "+packets(j.near.Packets))
	} else {
		lines = append(lines, "here: what left and came is not known: that takes CAP_NET_RAW, as root has")
	}
	f := j.far
	if f == nil {
		return lines
	}
	there := "there: "
	switch {
	case j.near.Itself:
		there = "here: "
	case f.Watched:
		lines = append(lines, there+packets(f.Packets))
	default:
		lines = append(lines, there+"what came and left is not known: that takes CAP_NET_RAW, as root has")
	}
	if f.Foreign {
		lines = append(lines, there+"no interface has "+f.Address+": it is translated on the way, or another host's")
	}
	lines = append(lines, there+listeners(f.Listeners))
	if f.Itself != "" {
		lines = append(lines, there+"a connection from the host to itself is "+f.Itself)
	}
	if f.HalfOpen > 0 {
		lines = append(lines, there+"the kernel answered "+quantity.FormatCount(f.HalfOpen, "connection")+" of the near end, and heard no more of them")
	}
	for _, name := range Counts {
		if n := f.Counts[name]; n > 0 {
			lines = append(lines, there+fmt.Sprintf("the kernel counted %d more of %s, of all programs", n, name))
		}
	}
	return lines
}

// tries says what became of the connections that were tried.
func (j *judge) tries() string {
	var outcomes []string
	for _, a := range j.near.Attempts {
		what := a.Outcome
		if a.Reason != "" {
			what += " (" + a.Reason
			if a.From != "" {
				what += ", said " + a.From
			}
			what += ")"
		}
		outcomes = append(outcomes, what)
	}
	each := counted(outcomes)
	if len(each) == 1 {
		each = outcomes[:1] // the number of all of them is said before
	}
	return fmt.Sprintf("%s from %s: %s", quantity.FormatCount(len(outcomes), "connection"), j.near.Address, strings.Join(each, ", "))
}

// packets counts what interfaces showed.
func packets(all []measure.PortPacket) string {
	if len(all) == 0 {
		return "no interface showed a packet of it"
	}
	var sorts []string
	for _, p := range all {
		what := p.Kind
		if !slices.Contains([]string{measure.PacketSYN, measure.PacketSYNACK, measure.PacketRST}, p.Kind) {
			what += " from " + p.From
		}
		if p.Out {
			what += " out at " + p.Interface
		} else {
			what += " in at " + p.Interface
		}
		if p.Kind != measure.PacketSYN && !p.Out {
			what += fmt.Sprintf(" over %s (TTL %d)", quantity.FormatCount(p.Hops, "hop"), p.TTL)
		}
		sorts = append(sorts, what)
	}
	return strings.Join(counted(sorts), ", ")
}

// counted says how many there are of each sort, in the order in which the sorts came first.
func counted(sorts []string) (each []string) {
	counts := map[string]int{}
	for _, sort := range sorts {
		if counts[sort]++; counts[sort] == 1 {
			each = append(each, sort)
		}
	}
	for i, sort := range each {
		each[i] = fmt.Sprintf("%d %s", counts[sort], sort)
	}
	return each
}

// listeners says who listens on the port, and how many connections wait for each.
func listeners(all []measure.PortListener) string {
	if len(all) == 0 {
		return "nothing listens on the port"
	}
	var each []string
	for i := range all {
		l := &all[i]
		each = append(each, fmt.Sprintf("%s listens on %s, where %d of %d connections wait", called(l), l.Address, l.Waiting, l.Most+1))
	}
	return strings.Join(each, "; ")
}
