package passage

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/stat"
)

func TestSeam(t *testing.T) {
	numbers := func(all ...uint64) []uint64 { return all }
	for name, c := range map[string]struct {
		from Seam
		end  int
		came []Answer
		want Ways
		next Seam
	}{
		"nothing was lost": {Seam{Packet: 2, Count: 2}, 4, said(0, 0, 1, 1, 2, 2, 3, 3, 4, 4),
			Ways{lost(".."), lost(".."), numbers(0, 1, 2), numbers(0, 1, 2), 0, true}, Seam{Packet: 4, Count: 4, Counts: true}},
		"who does not say that it counts was seen to": {Seam{Packet: 2, Count: 1, Counts: true}, 4, came(2, 1, 4, 3),
			Ways{lost(".."), lost(".x"), numbers(0, 1, 2), numbers(0, 2), 0, true}, Seam{Packet: 4, Count: 3, Counts: true}},
		"the last were lost, and what follows tells which way": {Seam{}, 6, said(0, 0, 3, 2, 6, 4),
			Ways{lost("..x..x"), lost(".x.x"), numbers(0, 1, 3, 4, 6), numbers(0, 2, 4), 0, true}, Seam{Packet: 6, Count: 4, Counts: true}},
		"what is more belongs to those that follow": {Seam{}, 2, said(0, 0, 4, 4),
			Ways{lost(".."), lost(".x"), numbers(0, 1, 2), numbers(0, 2), 0, true}, Seam{Packet: 2, Count: 2, Counts: true}},
		"nothing came back after the last": {Seam{}, 3, said(0, 0),
			Ways{lost("."), lost("."), numbers(0), numbers(0), 2, true}, Seam{Packet: 3, Open: 2, Count: 1, Counts: true}},
		"nothing came at all": {Seam{Packet: 3, Open: 2, Count: 1, Counts: true}, 6, nil,
			Ways{Open: 3}, Seam{Packet: 6, Open: 5, Count: 1, Counts: true}},
		"the open ones before were lost on the way there": {Seam{Packet: 6, Open: 5, Count: 1, Counts: true}, 8, said(7, 1),
			Ways{lost("x."), lost("."), numbers(1), numbers(0), 0, true}, Seam{Packet: 8, Count: 2, Counts: true}},
		"the open ones before were lost on the way back": {Seam{Packet: 6, Open: 5, Count: 1, Counts: true}, 8, said(7, 7),
			Ways{lost(".."), lost("x."), numbers(0, 1), numbers(1), 0, true}, Seam{Packet: 8, Count: 8, Counts: true}},
		"all of the piece were lost, and the next was not": {Seam{Packet: 2, Count: 2}, 4, said(1, 1, 4, 3),
			Ways{lost(".x"), lost("x"), numbers(0, 2), numbers(1), 0, true}, Seam{Packet: 4, Count: 3, Counts: true}},
		"the next one overtook the last there": {Seam{}, 2, said(0, 0, 2, 1, 1, 2, 3, 3),
			Ways{lost(".."), lost(".."), numbers(0, 2, 1), numbers(0, 1, 2), 0, true}, Seam{Packet: 2, Count: 3, Counts: true}},
		"the first had overtaken the one before": {Seam{Packet: 2, Count: 3}, 4, said(0, 0, 2, 1, 1, 2, 3, 3),
			Ways{lost(".."), lost(".."), numbers(0, 1), numbers(0, 1), 0, true}, Seam{Packet: 4, Count: 4, Counts: true}},
		"the far end began anew": {Seam{Packet: 100, Count: 90}, 104, said2(100, 0, 90, 103, 1, 1),
			Ways{lost("..x."), lost(".x."), numbers(0, 1, 3), numbers(0, 2), 0, true}, Seam{Packet: 104, Round: 1, Count: 2, Counts: true}},
		"the far end began anew after the piece": {Seam{Packet: 100, Count: 90}, 102, said2(100, 0, 90, 103, 1, 0),
			Ways{lost(".x"), lost("."), numbers(0, 2), numbers(0, 1), 0, true}, Seam{Packet: 102, Count: 91, Counts: true}},
		"counts go round": {Seam{Packet: 10, Count: 1<<32 - 1}, 12, []Answer{{Index: 10, Count: 1<<32 - 1, Counts: true}, {Index: 11, Count: 0, Counts: true}},
			Ways{lost(".."), lost(".."), numbers(0, 1), numbers(0, 1), 0, true}, Seam{Packet: 12, Count: 1, Counts: true}},
	} {
		got, next := c.from.Of(c.end, c.came)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.next, next); diff != "" {
			t.Errorf("%s, the seam after it (-want +got):\n%s", name, diff)
		}
	}
}

// said2 are answers of a far end that says that it counts: of each the packet, the round and the count.
func said2(triples ...int) (all []Answer) {
	for i := 0; i < len(triples); i += 3 {
		all = append(all, Answer{Index: triples[i], Round: triples[i+1], Count: uint32(triples[i+2]), Counts: true})
	}
	return all
}

// However a session is cut, its pieces add up to what it is as a whole.
func TestPiecesAddUp(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 16))
		const sent = 400
		// One trouble at a time: several together leave room for more than one explanation.
		answers := session(random, sent, []trouble{{losses: 0.05}, {lateThere: 0.05}, {lateBack: 0.05}}[seed%3])
		whole := Of(sent, answers)
		want := tallyOf(whole)
		var got tally
		at := Seam{}
		length := 7 + random.IntN(100)
		for at.Packet < sent {
			end := min(sent, at.Packet+length)
			var ways Ways
			ways, at = at.Of(end, slices.DeleteFunc(slices.Clone(answers), func(a Answer) bool { return a.Index < at.Packet-50 || a.Index >= end+50 }))
			got = got.plus(tallyOf(ways))
		}
		got.open = at.Open
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(tally{})); diff != "" {
			t.Errorf("seed %d, pieces of %d (-whole +pieces):\n%s", seed, length, diff)
		}
	}
}

// tally counts what became of packets.
type tally struct{ there, back, reorderedThere, reorderedBack, open int }

func tallyOf(w Ways) tally {
	count := func(all []bool) (n int) {
		for _, lost := range all {
			if lost {
				n++
			}
		}
		return n
	}
	return tally{count(w.Forward), count(w.Reverse), stat.Ordering(w.There).Reordered, stat.Ordering(w.Back).Reordered, w.Open}
}

func (t tally) plus(o tally) tally {
	return tally{t.there + o.there, t.back + o.back, t.reorderedThere + o.reorderedThere, t.reorderedBack + o.reorderedBack, 0}
}

// trouble is which share of packets are lost on each way, and overtaken by the next ones on one.
type trouble struct{ losses, lateThere, lateBack float64 }

// session are the answers to packets.
func session(random *rand.Rand, sent int, t trouble) (came []Answer) {
	type one struct {
		index int
		at    float64
	}
	sorted := func(all []one) []one {
		slices.SortStableFunc(all, func(a, b one) int {
			if a.at < b.at {
				return -1
			}
			return 1
		})
		return all
	}
	late := func(share float64) float64 {
		if random.Float64() < share {
			return 1.5 + 3*random.Float64()
		}
		return 0
	}
	var there, back []one
	for i := range sent {
		if random.Float64() >= t.losses {
			there = append(there, one{i, float64(i) + late(t.lateThere)})
		}
	}
	for count, p := range sorted(there) {
		if random.Float64() >= t.losses {
			back = append(back, one{count, p.at + late(t.lateBack)})
		}
	}
	for _, p := range sorted(back) {
		came = append(came, Answer{Index: there[p.index].index, Count: uint32(p.index), Counts: true})
	}
	return came
}

func TestRounds(t *testing.T) {
	for name, c := range map[string]struct {
		came []Answer
		want []int
	}{
		"in order":                     {said(0, 0, 1, 1, 2, 2), []int{0, 0, 0}},
		"reordered":                    {said(100, 100, 120, 101, 119, 118), []int{0, 0, 0}},
		"began anew":                   {said(100, 100, 120, 0, 121, 1), []int{0, 1, 1}},
		"began anew, and one was late": {said(100, 100, 120, 0, 110, 105, 121, 1), []int{0, 1, 0, 1}},
		"counts go round":              {said(100, 1<<32-1, 101, 0), []int{0, 0}},
	} {
		var r Rounds
		var got []int
		for _, a := range c.came {
			got = append(got, r.Of(a, 5).Round)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
