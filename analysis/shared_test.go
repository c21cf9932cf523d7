package analysis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mesh is all pairs of hosts, each with its ends, sites and the links of its way over two routers in between: those of a, b and c
// are at west, the others at east.
func mesh(changed func(source, target string) bool) (all []Member) {
	site := func(h string) string {
		if strings.Contains("abc", h) {
			return "west"
		}
		return "east"
	}
	hosts := []string{"a", "b", "c", "d", "e", "f"}
	for _, s := range hosts {
		for _, t := range hosts {
			if s == t {
				continue
			}
			m := Member{Source: s, Target: t, Changed: changed(s, t), Parts: []Part{{FromHost, s}, {ToHost, t}, {AtHost, s}, {AtHost, t}}}
			m.Parts = append(m.Parts, Part{AtSite, site(s)}, Part{AtSite, site(t)}, Part{AtRouter, site(s)}, Part{AtRouter, site(t)})
			if site(s) != site(t) {
				m.Parts = append(m.Parts, Part{OnLink, site(s) + " - " + site(t)})
			}
			all = append(all, m)
		}
	}
	return all
}

func TestExplain(t *testing.T) {
	of := func(hosts, h string) bool { return strings.Contains(hosts, h) }
	for name, c := range map[string]struct {
		changed func(s, t string) bool
		want    string
	}{
		"none":              {func(string, string) bool { return false }, ""},
		"a host":            {func(s, t string) bool { return s == "a" || t == "a" }, "host a 10/10"},
		"what a host sends": {func(s, _ string) bool { return s == "a" }, "from a 5/5"},
		"what it receives":  {func(_, t string) bool { return t == "b" }, "to b 5/5"},
		"a link one way":    {func(s, t string) bool { return of("abc", s) && of("def", t) }, "link west - east 9/9"},
		"a site":            {func(s, t string) bool { return of("abc", s) || of("abc", t) }, "router west 24/24"},
		"one pair":          {func(s, t string) bool { return s == "a" && t == "b" }, "alone 1"},
		"two pairs":         {func(s, t string) bool { return s == "a" && t == "b" || s == "d" && t == "e" }, "alone 2"},
		"two hosts":         {func(s, t string) bool { return s == "a" || t == "a" || s == "e" || t == "e" }, "host a 10/10, host e 10/10"},
		"a host, nearly":    {func(s, t string) bool { return (s == "a" || t == "a") && t != "d" }, "host a 9/10"},
		"a host and a pair": {func(s, t string) bool { return s == "a" || t == "a" || s == "d" && t == "e" }, "host a 10/10, alone 1"},
		"all":               {func(string, string) bool { return true }, "router east 24/24, router west 24/24"},
	} {
		shared, alone := Explain(mesh(c.changed))
		var got []string
		for _, s := range shared {
			got = append(got, fmt.Sprintf("%s %s %d/%d", s.Kind, s.Name, s.Changed, s.All))
		}
		if len(alone) > 0 {
			got = append(got, fmt.Sprintf("alone %d", len(alone)))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// Whatever changed, all of it is explained or left, what explains it mostly changed, and the order of the pairs does not matter.
func TestExplainHolds(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 3))
		chance := random.Float64()
		members := mesh(func(string, string) bool { return random.Float64() < chance })
		shared, alone := Explain(members)
		for _, m := range members {
			explained := false
			for _, s := range shared {
				for _, p := range m.Parts {
					explained = explained || p == s.Part
				}
			}
			left := false
			for _, a := range alone {
				left = left || a.Source == m.Source && a.Target == m.Target
			}
			if m.Changed && explained == left || !m.Changed && left {
				t.Fatalf("seed %d: %+v: explained %v, left %v", seed, m, explained, left)
			}
		}
		for _, s := range shared {
			if float64(s.Changed) < leastHit*float64(s.All) || s.Changed < leastTogether {
				t.Fatalf("seed %d: %+v explains nothing", seed, s)
			}
		}
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		again, _ := Explain(members)
		if diff := cmp.Diff(shared, again); diff != "" {
			t.Fatalf("seed %d: in another order (-one +other):\n%s", seed, diff)
		}
	}
}
