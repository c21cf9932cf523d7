package multipath

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// diamond is a router that opens into three, which join before the destination.
//
//	0 ─┬─ 1 ─┬─ 4 ── 5
//	   ├─ 2 ─┤
//	   └─ 3 ─┘
func diamond(change func(*network)) *network {
	n := &network{rand: rand.New(rand.NewPCG(1, 1)), seed: 1, routers: []router{
		{next: []int{1, 2, 3}}, {next: []int{4}}, {next: []int{4}}, {next: []int{4}}, {next: []int{5}}, {}}}
	if change != nil {
		change(n)
	}
	return n
}

type drawn struct {
	name   string
	n      *network
	config Config
	want   string
}

func goldens() []drawn {
	return []drawn{
		{"by flow", diamond(nil), Config{}, `hop     interface  leads to
  1  a  10.0.0.0   b c d     by flow
  2  b  10.0.0.3   e
     c  10.0.0.2   e
     d  10.0.0.1   e
  3  e  10.0.0.4   f
  4  f  10.0.0.5   end
3 paths; that there are no more is 95 % sure. 137 probes of 50 flows
`},
		{"by packet, in turn, with a translator", diamond(func(n *network) {
			n.routers[0].packet, n.routers[0].inTurn, n.routers[4].shift = true, true, 77
		}), Config{}, `hop     interface  leads to
  1  a  10.0.0.0   b c d     by packet
  2  b  10.0.0.3   e
     c  10.0.0.1   e
     d  10.0.0.2   e
  3  e  10.0.0.4   ~f
  4  f  10.0.0.5   end
~: addresses or ports are translated on the way there
3 paths; that there are no more is 95 % sure. 224 probes of 81 flows
`},
		{"a silent branch", diamond(func(n *network) { n.routers[2].silent = true }), Config{}, `hop     interface  leads to
  1  a  10.0.0.0   b c d     by flow
  2  b  10.0.0.3   e
     c  10.0.0.1   e
     d  *          e
  3  e  10.0.0.4   f
  4  f  10.0.0.5   end
3 paths; that there are no more is 95 % sure. 324 probes of 77 flows
`},
		{"two hops by packet, not to be told apart", &network{rand: rand.New(rand.NewPCG(1, 1)), routers: []router{
			{next: []int{1, 2}, packet: true}, {next: []int{3}}, {next: []int{4}}, {next: []int{5}}, {next: []int{5}}, {}}}, Config{}, `hop     interface  leads to
  1  a  10.0.0.0   b c       by packet
  2  b  10.0.0.1   ?d ?e
     c  10.0.0.2   ?d ?e
  3  d  10.0.0.4   f
     e  10.0.0.3   f
  4  f  10.0.0.5   end
?: balancing by packet hides whether this link exists
2 paths; that there are no more is 95 % sure. 205 probes of 53 flows
`},
		{"a target that answers five packets alone", diamond(func(n *network) { n.answers = 6 }), Config{}, `hop     interface  leads to
  1  a  10.0.0.0   b c d     by flow
  2  b  10.0.0.3   e
     c  10.0.0.2   e
     d  10.0.0.1   e
  3  e  10.0.0.4   f
  4  f  10.0.0.5   end
3 paths; that there are no more is 95 % sure. 144 probes of 50 flows
`},
		{"few probes", diamond(nil), Config{MaxProbes: 40, MaxTTL: 8}, `hop     interface  leads to
  1  a  10.0.0.0   b c       by flow
  2  b  10.0.0.3   d
     c  10.0.0.2   d
  3  d  10.0.0.4   e
  4  e  10.0.0.5   end
2 paths; the search did not come to its end. 40 probes of 10 flows
`},
		{"nobody answers", diamond(func(n *network) {
			for i := range n.routers {
				n.routers[i].silent = true
			}
		}), Config{MaxTTL: 8}, `hop     interface  leads to
  1  a  *          b
  2  b  *          c
  3  c  *          d
  4  d  *          no answer
1 path; none was followed to its end. 389 probes of 40 flows
`},
	}
}

func TestDraw(t *testing.T) {
	for _, c := range goldens() {
		if d := cmp.Diff(c.want, Draw(c.n.search(t, c.config), nil)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// What was not asked for, comes late or twice changes nothing; and an answer that never comes holds the search up until it is told.
func TestStrangers(t *testing.T) {
	s, err := New(Config{MaxTTL: 4})
	if err != nil {
		t.Fatal(err)
	}
	batch := s.Next()
	want := []Probe{{1, 0}, {2, 0}, {3, 0}, {4, 0}} // not the six that it would ask for at most
	slices.SortFunc(batch, func(a, b Probe) int { return a.TTL - b.TTL })
	if d := cmp.Diff(want, batch); d != "" {
		t.Fatalf("the first batch (-want +got):\n%s", d)
	}
	s.Tell(Probe{1, 0}, Answer{Address: address(1)})
	s.Tell(Probe{1, 0}, Answer{Address: address(9)})  // a second answer
	s.Tell(Probe{7, 3}, Answer{Address: address(9)})  // nobody asked
	s.Tell(Probe{1, 12}, Answer{Address: address(9)}) // of another flow
	if s.Next() != nil || s.Done() {
		t.Error("the next batch came before all answers")
	}
	s.Tell(Probe{2, 0}, Answer{Address: address(2), Final: true})
	s.Tell(Probe{3, 0}, Answer{Address: address(2), Final: true})
	s.Tell(Probe{4, 0}, Answer{})
	got := s.Graph()
	got.Confidence = 0 // of no interest here
	if d := cmp.Diff(&Graph{Vertices: []Vertex{{TTL: 1, Address: address(1), Flows: 1}, {TTL: 2, Address: address(2), Final: true, Flows: 1}},
		Links: []Link{{From: 0, To: 1, Certain: true}}, Probes: 4, Flows: 1}, got, cmp.Comparer(func(a, b Vertex) bool { return a == b })); d != "" {
		t.Errorf("graph (-want +got):\n%s", d)
	}
}

func TestValidate(t *testing.T) {
	for want, c := range map[string]Config{
		"": {},
		"confidence 1: want a ratio above 0 and below 1":                                {Confidence: 1},
		"confidence NaN: want a ratio above 0 and below 1":                              {Confidence: nan()},
		"hops 256: want 1 to 255":                                                       {MaxTTL: 256},
		"balancers 0, silent hops 0, attempts -1, probes 0, batch 0: want none below 0": {Attempts: -1},
	} {
		got := ""
		if _, err := New(c); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// A search over 16 parallel paths of ten hops.
func BenchmarkSearch(b *testing.B) {
	n := &network{rand: rand.New(rand.NewPCG(1, 1)), routers: []router{{}}}
	for branch := range 16 {
		n.routers[0].next = append(n.routers[0].next, 1+8*branch)
		for hop := range 8 {
			next := 1 + 8*branch + hop + 1
			if hop == 7 {
				next = 129
			}
			n.routers = append(n.routers, router{next: []int{next}})
		}
	}
	n.routers = append(n.routers, router{})
	for b.Loop() {
		s, _ := New(Config{})
		for batch := s.Next(); len(batch) > 0; batch = s.Next() {
			for _, p := range batch {
				s.Tell(p, n.answer(p))
			}
		}
	}
	b.ReportMetric(float64(n.probes)/float64(b.N), "probes/op")
}
