package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// component is exclusive tests that share interfaces or limited sites, directly or by way of each other. Components
// know nothing of each other: what they run never meets.
//
// Its time is cut into frames, each planned by itself. Frame n is [n*frame, (n+1)*frame); no exclusive run of it lasts
// beyond its end.
type component struct {
	classes  []*class
	arriving []int32       // tests whose runs come at random times
	sites    []int32       // limited, whose links they cross
	slowest  time.Duration // longest run at a random time, with its slot
	frame    time.Duration
	frames   map[int64]*frame // the last ones asked for
	unplaced map[int64]int    // of frames: runs for which there was no room
}

// components groups the exclusive tests, and says of each interface which component it is in.
func components(m *Mesh, guard time.Duration) (all []*component, of []int32) {
	sets := newSets(len(m.Interfaces) + len(m.Sites))
	sites := siteIndex(m)
	for i := range m.Tests {
		t := &m.Tests[i]
		if !t.Demand.Exclusive || len(t.Pairs) == 0 {
			continue
		}
		first := int(t.Pairs[0].Source)
		for _, p := range t.Pairs {
			sets.join(first, int(p.Source))
			sets.join(first, int(p.Target))
			s, u := sites[p.Source], sites[p.Target]
			if s == u {
				continue
			}
			for _, site := range [2]int32{s, u} {
				if site != none {
					sets.join(first, len(m.Interfaces)+int(site))
				}
			}
		}
	}
	number := map[int]int32{}
	var crossed []map[int32]bool
	of = make([]int32, len(m.Interfaces))
	for i := range of {
		of[i] = none
	}
	for i := range m.Tests {
		t := &m.Tests[i]
		if !t.Demand.Exclusive || len(t.Pairs) == 0 {
			continue
		}
		root := sets.find(int(t.Pairs[0].Source))
		n, known := number[root]
		if !known {
			n = int32(len(all))
			number[root] = n
			all = append(all, &component{frames: map[int64]*frame{}, unplaced: map[int64]int{}})
			crossed = append(crossed, map[int32]bool{})
		}
		all[n].add(m, int32(i), guard, sites)
		for _, p := range t.Pairs {
			of[p.Source], of[p.Target] = n, n
			if s, u := sites[p.Source], sites[p.Target]; s != u {
				crossed[n][s], crossed[n][u] = true, true
			}
		}
	}
	for i, c := range all {
		c.sites = slices.Sorted(maps.Keys(crossed[i]))
		for _, class := range c.classes {
			class.size(m)
		}
		slices.SortFunc(c.classes, func(a, b *class) int { return cmp.Compare(a.key, b.key) })
	}
	return all, of
}

// siteIndex is the limited site of each interface, or none.
func siteIndex(m *Mesh) []int32 {
	byName := map[string]int32{}
	for i, s := range m.Sites {
		if s.AtOnce > 0 {
			byName[s.Name] = int32(i)
		}
	}
	of := make([]int32, len(m.Interfaces))
	for i, iface := range m.Interfaces {
		of[i] = none
		if s, limited := byName[iface.Site]; limited && iface.Site != "" {
			of[i] = s
		}
	}
	return of
}

// timing is when a test's cycles begin.
func (m *Mesh) timing(t *Test) Timing {
	for i := range m.Phases {
		if t.Phase != "" && m.Phases[i].Name == t.Phase {
			return m.Phases[i].Timing
		}
	}
	return t.Timing
}

func duration(t *Test) time.Duration {
	return time.Duration(t.Demand.DurationSeconds * float64(time.Second))
}

// add puts a test into the class it fits.
func (c *component) add(m *Mesh, test int32, guard time.Duration, sites []int32) {
	t := &m.Tests[test]
	timing := m.timing(t)
	if timing.Next == nil && timing.Sampling != Periodic {
		c.arriving = append(c.arriving, test)
		c.slowest = max(c.slowest, duration(t)+t.Slot)
		return
	}
	name := fmt.Sprint(duration(t), timing.Every, timing.Text, t.Phase)
	if timing.Next != nil && t.Phase == "" && timing.Text == "" {
		name = "test " + t.Name // two functions cannot be compared
	}
	key := hashName(name)
	i := slices.IndexFunc(c.classes, func(other *class) bool { return other.key == key })
	if i < 0 {
		i = len(c.classes)
		c.classes = append(c.classes, &class{
			key: key, length: duration(t) + guard, grid: grid{timing.Every, timing.Next}, next: timing.Next,
			packed: t.Phase != "" || timing.Next != nil, colourings: map[int64]*rounds{},
			graph: graph{vertices: len(m.Interfaces)},
		})
		if slices.ContainsFunc(sites, func(s int32) bool { return s != none }) {
			c.classes[i].graph.site = sites
			for _, s := range m.Sites {
				c.classes[i].graph.atOnce = append(c.classes[i].graph.atOnce, max(s.AtOnce, 1))
			}
		}
	}
	class := c.classes[i]
	class.tests = append(class.tests, test)
	class.first = append(class.first, len(class.graph.edges))
	class.test = append(class.test, measured{duration(t), t.Slot})
	if len(class.graph.edges) == 0 {
		class.graph.edges = slices.Clip(t.Pairs)
	} else {
		class.graph.edges = append(class.graph.edges, t.Pairs...)
	}
}

// size counts the rounds that a cycle needs.
func (c *class) size(m *Mesh) {
	c.least = c.graph.rounds()
	c.rounds = c.least + 1 + c.least/sparePart
	c.period = c.grid.gap()
	c.window = c.period
}

// sets is union and find.
type sets []int

func newSets(n int) sets { return seq(n) }

func (s sets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int) { s[s.find(a)] = s.find(b) }
