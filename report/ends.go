package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// endsOf are the systems at both ends: what was told of them, what audits found there, and what transfers found them set to.
func endsOf(p Problem) (all []end) {
	add := func(name string) *end {
		if i := slices.IndexFunc(all, func(e end) bool { return e.Name == name }); i >= 0 {
			return &all[i]
		}
		all = append(all, end{Name: name})
		return &all[len(all)-1]
	}
	from, to := ends(p.Diagnosis.Results)
	for _, e := range []measure.Endpoint{from, to} {
		if e != (measure.Endpoint{}) {
			add(e.NameOrAddress()).Address = e.Address
		}
	}
	for _, h := range p.Hosts {
		e := add(h.Name)
		for _, f := range [][2]string{{"system", h.System}, {"kernel", h.Kernel}, {"machine", h.Machine}} {
			if f[1] != "" {
				e.Facts = append(e.Facts, f)
			}
		}
	}
	for _, r := range p.Diagnosis.Results {
		if r.Kind == audit && r.Status != measure.StatusFailed {
			e := add(r.Source.NameOrAddress())
			e.Facts = append(e.Facts, auditOf(r)...)
		}
		for _, s := range r.Samples.Ends {
			if e := add(s.Host); !slices.ContainsFunc(e.Facts, func(f [2]string) bool { return f[0] == "congestion control" }) {
				e.Facts = append(e.Facts, settingsOf(s)...)
			}
		}
	}
	return all
}

// audit is the kind of a Result about one host: what it is set to.
const audit = "audit"

// auditOf is what an audit found at a system that is not as it should be.
func auditOf(r *measure.Result) (all [][2]string) {
	for _, f := range r.Samples.Findings {
		all = append(all, [2]string{strings.TrimSpace(f.ID + strings.TrimPrefix(f.Where, r.Source.Name)), f.Explanation})
	}
	if all == nil {
		return [][2]string{{"audit", "no setting is in the way"}}
	}
	return all
}

func settingsOf(s measure.TCPEnd) [][2]string {
	all := [][2]string{{"congestion control", s.CongestionControl}, {"segment", fmt.Sprintf("%d B", s.MSSBytes)}}
	if s.Settings == nil {
		return all
	}
	for _, b := range []struct {
		name   string
		values *[3]int
	}{{"tcp_rmem", s.Settings.RmemBytes}, {"tcp_wmem", s.Settings.WmemBytes}} {
		if b.values != nil {
			all = append(all, [2]string{b.name, strings.Trim(fmt.Sprint(*b.values), "[]")})
		}
	}
	for _, n := range []struct {
		name  string
		value *int
	}{{"tcp_window_scaling", s.Settings.WindowScaling}, {"tcp_ecn", s.Settings.ECN}} {
		if n.value != nil {
			all = append(all, [2]string{n.name, fmt.Sprint(*n.value)})
		}
	}
	return all
}
