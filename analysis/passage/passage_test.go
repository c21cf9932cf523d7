package passage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/stat"
)

// came are answers that came back: pairs of a packet's index and the far end's count, of a far end that says nothing of it.
func came(pairs ...int) (all []Answer) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, Answer{Index: pairs[i], Count: uint32(pairs[i+1])})
	}
	return all
}

// said are those of a far end that says that it counts.
func said(pairs ...int) []Answer {
	all := came(pairs...)
	for i := range all {
		all[i].Counts = true
	}
	return all
}

// lost reads "..x.": x was lost.
func lost(drawn string) (all []bool) {
	for _, c := range drawn {
		all = append(all, c == 'x')
	}
	return all
}

func TestOf(t *testing.T) {
	numbers := func(all ...uint64) []uint64 { return all }
	for name, c := range map[string]struct {
		sent int
		came []Answer
		want Ways
	}{
		"nothing came back": {3, nil, Ways{Open: 3}},
		"all came back": {3, came(0, 0, 1, 1, 2, 2),
			Ways{lost("..."), lost("..."), numbers(0, 1, 2), numbers(0, 1, 2), 0, true}},
		"lost both ways, one after the other": {6, came(0, 0, 1, 1, 4, 3, 5, 4),
			Ways{lost("...x.."), lost("..x.."), numbers(0, 1, 2, 4, 5), numbers(0, 1, 3, 4), 0, true}},
		"lost on the way there alone": {4, came(0, 0, 1, 1, 3, 2),
			Ways{lost("..x."), lost("..."), numbers(0, 1, 3), numbers(0, 1, 2), 0, true}},
		"lost on the way back alone, of who says that it counts": {4, said(0, 0, 1, 1, 3, 3),
			Ways{lost("...."), lost("..x."), numbers(0, 1, 2, 3), numbers(0, 1, 3), 0, true}},
		"lost on the way back alone, of who may not count": {4, came(0, 0, 1, 1, 3, 3), Ways{There: numbers(0, 1, 3), Back: numbers(0, 1, 3)}},
		"one answer does not say that it counts":           {4, append(said(0, 0, 1, 1), came(3, 3)...), Ways{There: numbers(0, 1, 3), Back: numbers(0, 1, 3)}},
		"the first was lost on the way back":               {2, said(1, 1), Ways{lost(".."), lost("x."), numbers(0, 1), numbers(1), 0, true}},
		"the end is open": {5, came(0, 0, 2, 1),
			Ways{lost(".x."), lost(".."), numbers(0, 2), numbers(0, 1), 2, true}},
		"reordered on the way there": {3, came(1, 0, 0, 1, 2, 2),
			Ways{lost("..."), lost("..."), numbers(1, 0, 2), numbers(0, 1, 2), 0, true}},
		"reordered on the way back": {3, came(1, 1, 0, 0, 2, 2),
			Ways{lost("..."), lost("..."), numbers(0, 1, 2), numbers(1, 0, 2), 0, true}},
		"late there, and its answer was lost": {5, said(0, 0, 2, 1, 3, 2, 4, 4),
			Ways{lost("....."), lost("...x."), numbers(0, 2, 3, 1, 4), numbers(0, 1, 2, 4), 0, true}},
		"late there, and the answers to those that overtook it were lost, where copies are known": {9,
			said(0, 0, 0, 1, 2, 2, 3, 3, 1, 4, 4, 5, 5, 8, 8, 9),
			Ways{lost("........."), lost("......xx.."), numbers(0, 0, 2, 3, 1, 4, 6, 7, 5, 8), numbers(0, 1, 2, 3, 4, 5, 8, 9), 0, true}},
		"a copy made on the way there": {2, came(0, 0, 0, 1, 1, 2),
			Ways{lost(".."), lost("..."), numbers(0, 0, 1), numbers(0, 1, 2), 0, true}},
		"a copy made on the way there, whose answer was lost": {3, said(0, 0, 1, 1, 2, 3),
			Ways{lost("..."), lost("..x."), numbers(0, 1, 1, 2), numbers(0, 1, 3), 0, true}},
		"a copy of the first packet, whose own answer was lost": {2, said(0, 1, 1, 2),
			Ways{lost(".."), lost("x.."), numbers(0, 0, 1), numbers(1, 2), 0, true}},
		"a copy whose answer was lost, and far from it a packet lost there, where copies are known": {6, said(0, 0, 0, 1, 2, 2, 3, 3, 4, 5, 5, 6),
			Ways{lost(".x...."), lost("....x.."), numbers(0, 0, 2, 3, 3, 4, 5), numbers(0, 1, 2, 3, 5, 6), 0, true}},
		"a copy made on the way back": {2, came(0, 0, 0, 0, 1, 1),
			Ways{lost(".."), lost(".."), numbers(0, 1), numbers(0, 0, 1), 0, true}},
		"counts that began before":         {3, came(0, 70, 2, 71), Ways{There: numbers(0, 2), Back: numbers(70, 71)}},
		"counts that began shortly before": {9, said(0, 3, 2, 4), Ways{There: numbers(0, 2), Back: numbers(3, 4), Open: 6}},
		"counts that began before, and nothing is missing": {3, came(0, 70, 1, 71, 2, 72),
			Ways{lost("..."), lost("..."), numbers(0, 1, 2), numbers(70, 71, 72), 0, true}},
		"counts that began anew": {4, said(0, 0, 1, 1, 3, 0), Ways{There: numbers(0, 1), Back: numbers(0, 1, 0)}},
	} {
		if diff := cmp.Diff(c.want, Of(c.sent, c.came)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// path is what happens to packets, by how many of each thousand. A late one is overtaken by the next three.
type path struct{ lostThere, lateThere, copiedThere, lostBack, copiedBack int }

// Of random paths every count is exact, but for how many packets were late where answers to such were lost, and where nobody could tell late ones from
// copies.
func TestAgainstTruth(t *testing.T) {
	for name, c := range map[string]path{
		"losses both ways":               {lostThere: 125, lostBack: 100},
		"losses back":                    {lostBack: 200},
		"late ones, losses back":         {lateThere: 80, lostBack: 100},
		"copies there, losses back":      {copiedThere: 100, lostBack: 100},
		"copies of both ways":            {copiedThere: 100, copiedBack: 100},
		"late ones and copies":           {lateThere: 50, copiedThere: 50, copiedBack: 50},
		"late ones, losses there":        {lateThere: 80, lostThere: 100},
		"copies of both ways, lost back": {copiedThere: 50, copiedBack: 50, lostBack: 50},
	} {
		random := rand.New(rand.NewPCG(16, uint64(len(name))))
		for range 200 {
			if wrong := c.play(random); wrong != "" {
				t.Fatalf("%s: %s", name, wrong)
			}
		}
	}
}

// play sends packets, and says what of the figures is wrong. The last packets come unharmed, so that nothing is open.
func (c path) play(random *rand.Rand) (wrong string) {
	const sent, unharmed = 200, 5
	hit := func(ofThousand int) bool { return random.IntN(1000) < ofThousand }
	var there []uint64
	late := map[int]int{} // by the packet after which it comes
	lostThere := 0
	for i := range sent {
		harmed := i < sent-unharmed
		switch {
		case harmed && hit(c.lostThere):
			lostThere++
		case harmed && hit(c.lateThere) && late[i+3] == 0:
			late[i+3] = i + 1
		default:
			there = append(there, uint64(i))
			if harmed && hit(c.copiedThere) {
				there = append(there, uint64(i))
			}
		}
		if l := late[i]; l > 0 {
			there = append(there, uint64(l-1))
		}
	}
	var all []Answer
	lostBack, copiedBack := 0, 0
	for count, i := range there {
		harmed := int(i) < sent-unharmed
		if harmed && hit(c.lostBack) {
			lostBack++
			continue
		}
		all = append(all, Answer{Index: int(i), Count: uint32(count), Counts: true})
		if harmed && hit(c.copiedBack) {
			copiedBack++
			all = append(all, Answer{Index: int(i), Count: uint32(count), Counts: true})
		}
	}
	w := Of(sent, all)
	total := func(lost []bool) int { return strings.Count(fmt.Sprint(lost), "true") }
	figures := func(there, back []uint64) []int {
		o := stat.Ordering(there)
		return []int{stat.Duplication(there).Extra, o.Reordered, stat.Duplication(back).Extra}
	}
	want := append([]int{lostThere, lostBack, sent, len(there), 0}, figures(there, nil)...)
	want[len(want)-1] = copiedBack
	if c.lateThere > 0 && c.lostBack > 0 {
		want = want[:5]
	}
	got := append([]int{total(w.Forward), total(w.Reverse), len(w.Forward), len(w.Reverse), w.Open}, figures(w.There, w.Back)...)
	return cmp.Diff(want, got[:len(want)])
}
