package beacon

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// simulated is a member of a group in virtual time, which is counted from origin.
type simulated struct {
	listens, begins time.Duration
	ahead           time.Duration // its clock
	count           int
	roster          *roster
}

func (s *simulated) clock(at time.Duration) time.Time { return after(at + s.ahead) }

// delivery is a packet that comes to a member.
type delivery struct {
	at   time.Duration
	from int
	to   int
	data []byte
}

const simulatedInterval = 100 * time.Millisecond

// wayOf is what a pair's packets meet: they take as long as base; each fifth takes longer; some, or all, are lost.
type wayOf struct {
	base, extra time.Duration
	loss        float64
}

// simulate lets up to five members begin at any time, with clocks that are hours apart, and returns them, the ways between them, and how many
// probes of each came to each.
func simulate(rng *rand.Rand) (members []*simulated, ways map[[2]int]wayOf, got map[[2]int]map[int]bool) {
	ways, got = map[[2]int]wayOf{}, map[[2]int]map[int]bool{}
	var all []delivery
	for i := range 2 + rng.IntN(4) {
		listens := time.Duration(rng.IntN(5000)) * time.Millisecond
		s := &simulated{listens: listens, begins: listens + time.Second, ahead: time.Duration(rng.IntN(7200)-3600) * time.Second, count: 20 + rng.IntN(40)}
		s.roster = newRoster(ID(i+1), s.clock(listens))
		members = append(members, s)
	}
	for i := range members {
		for j := range members {
			if i == j {
				continue
			}
			w := wayOf{base: time.Duration(1+rng.IntN(200)) * time.Millisecond, extra: time.Duration(rng.IntN(900)) * time.Millisecond,
				loss: []float64{0, 0.3, 1}[rng.IntN(3)]}
			ways[[2]int{i, j}], got[[2]int{i, j}] = w, map[int]bool{}
		}
	}
	for i, s := range members {
		for k := range s.count {
			sent := s.begins + time.Duration(k)*simulatedInterval
			p := Probe{Member: ID(i + 1), Name: fmt.Sprint("m", i), Sequence: uint32(k), Planned: uint32(s.count), Interval: simulatedInterval,
				Began: control.TimestampOf(s.clock(s.begins)), Sent: control.TimestampOf(s.clock(sent)), Error: control.Unknown, TTL: 64}
			for j := range members {
				w := ways[[2]int{i, j}]
				if i == j || rng.Float64() < w.loss {
					continue
				}
				took := w.base
				if k%5 == 4 {
					took += w.extra
				}
				got[[2]int{i, j}][k] = true
				all = append(all, delivery{sent + took, i, j, p.Append(nil, 0)})
			}
		}
	}
	play(members, ways, all)
	return members, ways, got
}

// simulatedEnd is when all members are done, and all of that is told.
const simulatedEnd = 20 * time.Second

// play delivers probes, and each second reports, of which only those are lost whose way loses all.
func play(members []*simulated, ways map[[2]int]wayOf, probes []delivery) {
	slices.SortStableFunc(probes, func(a, b delivery) int { return cmp.Compare(a.at, b.at) })
	hear := func(d delivery) {
		members[d.to].roster.hear(d.data, Heard{From: netip.AddrFrom4([4]byte{10, 0, 0, byte(d.from)}), At: members[d.to].clock(d.at)})
	}
	for at := time.Duration(0); at <= simulatedEnd; at += time.Second {
		for len(probes) > 0 && probes[0].at <= at {
			hear(probes[0])
			probes = probes[1:]
		}
		for i, s := range members {
			sent := min(max(0, int((at-s.begins)/simulatedInterval)+1), s.count)
			if at < s.begins {
				sent = 0
			}
			blocks := s.roster.blocks(s.clock(at), 0, false)
			r := ReceiverReport{Member: ID(i + 1), Name: fmt.Sprint("m", i), Listening: control.TimestampOf(s.clock(s.listens)),
				Judged: control.TimestampOf(s.clock(at)), Sent: uint32(sent), Done: sent == s.count, All: len(blocks), Blocks: blocks}
			if sent > 0 {
				r.Began = control.TimestampOf(s.clock(s.begins))
			}
			for j := range members {
				if i != j && ways[[2]int{i, j}].loss < 1 && at >= s.listens {
					hear(delivery{at, i, j, r.Append(nil)})
				}
			}
		}
	}
}

// Whenever members begin, and whatever their clocks show: each judges those probes that were due while it listened, and finds lost those that did
// not come. Of whom it never hears, it learns by others.
func TestSimulated(t *testing.T) {
	var late, unheard int
	for seed := range uint64(100) {
		members, ways, got := simulate(rand.New(rand.NewPCG(seed, 0)))
		for pair, w := range ways {
			s, r := members[pair[0]], members[pair[1]]
			m := r.roster.members[ID(pair[0]+1)]
			if m == nil {
				continue // nobody whom it hears has heard of it
			}
			type judged struct{ From, To, Received int }
			want := judged{To: s.count}
			for k := range s.count {
				if s.begins+time.Duration(k)*simulatedInterval+w.base < r.listens {
					want.From = k + 1
				} else if got[pair][k] {
					want.Received++
				}
			}
			f := r.roster.figures(m, r.clock(simulatedEnd), 0, false)
			have := judged{int(f.From), int(f.To), int(f.Received)}
			switch {
			case len(m.stream.arrivals) > 0:
				late += min(1, want.From)
			case s.begins >= r.listens:
				want.From = 0
				unheard++
			default:
				want.From = have.From // from when it was heard of
			}
			if want != have {
				t.Errorf("seed %d, from %d to %d: %+v, want %+v", seed, pair[0], pair[1], have, want)
			}
		}
	}
	if late < 50 || unheard < 50 {
		t.Errorf("only %d pairs in which the receiver came late, and %d in which it heard nothing", late, unheard)
	}
}
