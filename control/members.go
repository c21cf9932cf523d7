package control

import (
	"slices"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
)

// withPairs adds to Results of members of multicast groups what each received of the others, as Results of their own from sender to receiver. What others
// received is in a member's Result, too, and counts in theirs alone. Who names itself as no host of the test's group does is left out: anybody may send to
// a group.
func withPairs(m *config.Mesh, results []*measure.Result) []*measure.Result {
	all := slices.Clone(results)
	for _, r := range results {
		test := m.Test(r.Test)
		if len(r.Samples.Pairs) == 0 || test == nil {
			continue
		}
		members := m.Group(test.Group).Left
		for i := range r.Samples.Pairs {
			p := &r.Samples.Pairs[i]
			from, to := memberAt(r, p.From), memberAt(r, p.To)
			if from == nil || to == nil || !to.Self || from.Self || p.Sent == 0 {
				continue
			}
			if h := hostOfMember(m, members, from); h != "" && h != r.Source.Name {
				all = append(all, r.PairResult(p, measure.Endpoint{Name: h, Address: from.Address}))
			}
		}
	}
	return all
}

func memberAt(r *measure.Result, i int) *measure.Member {
	if i < 0 || i >= len(r.Samples.Members) {
		return nil
	}
	return &r.Samples.Members[i]
}

// hostOfMember names the host of a group that a member is: by its name, or by the address that its packets came from; "": none.
func hostOfMember(m *config.Mesh, hosts []int, one *measure.Member) string {
	byAddress := ""
	for _, h := range hosts {
		host := &m.Hosts[h]
		if host.Name == one.Name {
			return host.Name
		}
		for _, part := range host.Interfaces {
			if slices.Contains(part.Addresses, one.Address) {
				byAddress = host.Name
			}
		}
	}
	return byAddress
}
