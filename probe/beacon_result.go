package probe

import (
	"fmt"
	"io"
	"math"
	"net/netip"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/beacon"
	"github.com/pathwise-net/pathwise/quantity"
)

// groupSamples are the members and pairs of a report. Pairs of which nothing was told are left out.
func groupSamples(r *beacon.Report) (members []measure.Member, pairs []measure.MemberPair) {
	number := map[beacon.ID]int{}
	for i, m := range r.Members {
		number[m.ID] = i
		address := ""
		if m.Address.IsValid() {
			address = m.Address.String()
		}
		members = append(members, measure.Member{ID: m.ID.String(), Name: m.Name, Address: address, Self: m.Self, Sent: int(m.Sent)})
	}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		if p.Told {
			pairs = append(pairs, pairSample(p, number[p.Sender.ID], number[p.Receiver.ID]))
		}
	}
	return members, pairs
}

func pairSample(p *beacon.Pair, from, to int) measure.MemberPair {
	f := &p.Figures
	s := measure.MemberPair{From: from, To: to, Final: p.Final, Sent: int(f.Judged()), Received: int(f.Received), Duplicates: int(f.Duplicates),
		Reordered: int(f.Reordered), ExtentMax: int(f.MaxExtent), BurstMax: int(f.LossRun), Remarked: int(f.Remarked)}
	if f.Hops >= 0 && f.Received > 0 {
		s.HopsMin, s.HopsMax = new(f.Hops), new(f.HopsMost)
	}
	seconds := func(d time.Duration) *float64 { return new(d.Seconds()) }
	if f.Received > 0 {
		s.DelayMinSeconds, s.DelayMedianSeconds, s.DelayP95Seconds = seconds(f.Delay.Min), seconds(f.Delay.Median), seconds(f.Delay.P95)
	}
	if f.Received > 1 {
		s.PDVP95Seconds, s.IPDVP95Seconds = seconds(f.Variation.PDV), seconds(f.Variation.IPDV)
	}
	if f.ClockKnown {
		s.ClockErrorSeconds = seconds(f.ClockError)
	}
	return s
}

// reportOf is what groupSamples made samples of, as far as tables need it.
func reportOf(s *measure.Samples) beacon.Report {
	var r beacon.Report
	told := map[[2]int]*measure.MemberPair{}
	for i := range s.Pairs {
		told[[2]int{s.Pairs[i].From, s.Pairs[i].To}] = &s.Pairs[i]
	}
	for i := range s.Members {
		m := &s.Members[i]
		address, _ := netip.ParseAddr(m.Address)
		r.Members = append(r.Members, beacon.Member{Name: m.Name, Address: address, Self: m.Self})
		for j := range s.Members {
			if i == j {
				continue
			}
			pair := beacon.Pair{}
			if p := told[[2]int{i, j}]; p != nil {
				pair = beacon.Pair{Told: true, Final: p.Final, Figures: pairFigures(p)}
			}
			r.Pairs = append(r.Pairs, pair)
		}
	}
	return r
}

func pairFigures(p *measure.MemberPair) beacon.Figures {
	f := beacon.Figures{To: uint32(max(0, p.Sent)), Received: uint32(max(0, p.Received)), Duplicates: uint32(max(0, p.Duplicates)),
		Reordered: uint32(max(0, p.Reordered)), Hops: -1}
	duration := func(s *float64) time.Duration {
		if s == nil || math.Abs(*s) > 1e9 { // s; 32 years, where a clock was never set
			return 0
		}
		return time.Duration(*s * float64(time.Second))
	}
	f.Delay.Median, f.Variation.PDV = duration(p.DelayMedianSeconds), duration(p.PDVP95Seconds)
	if p.HopsMin != nil {
		f.Hops = *p.HopsMin
	}
	return f
}

// beaconText writes what people want to know of a group: what all pairs lost, and a table for each quantity that is not the same, 0, for all.
func beaconText(w io.Writer, r *measure.Result) {
	m := r.Metrics
	fmt.Fprintf(w, "group %s: %s, %.0f of %.0f probes lost (%s)%s\n", r.Target.Address, quantity.FormatCount(int(m[measure.GroupMembers]), "member"), m[measure.LostPackets],
		m[measure.SentPackets], quantity.FormatRatio(m[measure.LossRatio]), extras(m, measure.DuplicatePackets, measure.ReorderedPackets))
	if len(r.Samples.Members) < 2 {
		return
	}
	report := reportOf(&r.Samples)
	for _, q := range beacon.Quantities {
		if q == beacon.Reordering && m[measure.ReorderedPackets] == 0 || q == beacon.Copies && m[measure.DuplicatePackets] == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n%s\n", q, strings.Join(report.Table(q), "\n"))
	}
}
