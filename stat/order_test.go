package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOrdering(t *testing.T) {
	cases := []struct {
		name string
		seqs []uint64
		want Order
	}{
		{"nothing", nil, Order{}},
		{"in order", []uint64{1, 2, 3, 4}, Order{Arrived: 4}},
		{"with gaps", []uint64{1, 5, 9}, Order{Arrived: 3}},
		{"RFC 4737, table 1 (7.1): packet 4 reordered", []uint64{1, 2, 3, 5, 6, 7, 8, 4, 9, 10}, Order{10, 1, 4, 4, 4, 1}},
		{"RFC 4737, table 2 (7.2): packets 5 and 6 reordered", []uint64{1, 2, 3, 4, 7, 5, 6, 8, 9, 10}, Order{10, 2, 2, 1.5, 1, 0}},
		{"RFC 4737, table 3 (7.3): packets 4, 5 and 6 reordered", []uint64{1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11}, Order{11, 3, 6, 5, 4, 1}},
		{"RFC 4737, table 4 (7.4): extents 2, 3 and 2", []uint64{1, 2, 3, 6, 7, 4, 5, 8, 9, 10, 12, 13, 11, 14, 15, 16}, Order{16, 3, 3, 7. / 3, 2, 0}},
		{"RFC 4737, section 1: packet 3 reordered", []uint64{1, 2, 4, 5, 3}, Order{5, 1, 2, 2, 2, 0}},
		{"RFC 4737, section 5.3: of 4, 5 and 6 only 4 is n-reordered", []uint64{1, 2, 3, 7, 8, 9, 4, 5, 6}, Order{9, 3, 5, 4, 3, 1}},
		{"an early packet makes all it overtook late", []uint64{1, 10, 2, 3}, Order{4, 2, 2, 1.5, 1, 0}},
		{"backwards", []uint64{3, 2, 1}, Order{3, 2, 2, 1.5, 2, 0}},
		{"a duplicate is not reordered", []uint64{1, 2, 2, 1, 3}, Order{Arrived: 3}},
		{"a late packet and its duplicate count once", []uint64{1, 3, 2, 2}, Order{3, 1, 1, 1, 1, 0}},
		{"the last sequence number there is", []uint64{math.MaxUint64, 0}, Order{2, 1, 1, 1, 1, 0}},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, Ordering(c.seqs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if got := Reordered(c.seqs); got != c.want.Reordered {
			t.Errorf("%s: %d reordered, want %d", c.name, got, c.want.Reordered)
		}
	}
	if got := Ordering([]uint64{1, 3, 2, 4}).Ratio(); got != 0.25 {
		t.Errorf("a packet of four out of order: ratio %v", got)
	}
}

// The definitions of RFC 4737, packet by packet, say the same.
func TestOrderingByDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(4737, 1))
	for range 300 {
		var seqs []uint64
		for _, i := range random.Perm(1 + random.IntN(12)) {
			seqs = append(seqs, uint64(i))
		}
		want := Order{Arrived: len(seqs)}
		extents := 0
		var counts []int
		for i, s := range seqs {
			if j := slices.IndexFunc(seqs[:i], func(before uint64) bool { return before > s }); j >= 0 {
				want.Reordered++
				extents += i - j
				want.MaxExtent = max(want.MaxExtent, i-j)
			}
			n := 0
			for n < i && seqs[i-n-1] > s {
				n++
			}
			want.MaxN = max(want.MaxN, n)
			for m := range n {
				if m == len(counts) {
					counts = append(counts, 0)
				}
				counts[m]++
			}
			if n >= 3 {
				want.ThreeReordered++
			}
		}
		if want.Reordered > 0 {
			want.MeanExtent = float64(extents) / float64(want.Reordered)
		}
		if diff := cmp.Diff(want, Ordering(seqs)); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", seqs, diff)
		}
		if got := NReordered(append(seqs, seqs[0])); !slices.Equal(got, counts) { // the last is a copy
			t.Fatalf("%v: %v packets are n-reordered, want %v", seqs, got, counts)
		}
	}
}

func TestDuplication(t *testing.T) {
	cases := []struct {
		name           string
		seqs           []uint64
		want           Copies
		fraction, rate float64
	}{
		{"nothing", nil, Copies{}, 0, 0},
		{"each once", []uint64{1, 2, 3}, Copies{Arrived: 3}, 0, 0},
		{"RFC 5560, section 5.3, case 1", []uint64{1, 2, 3, 4}, Copies{Arrived: 4}, 0, 0},
		{"case 2a", []uint64{1, 1, 2, 2, 3, 3, 4, 4}, Copies{4, 4, 4}, 1, 1},
		{"case 2b", []uint64{1, 2, 3, 4, 1, 2, 3, 4}, Copies{4, 4, 4}, 1, 1},
		{"case 2c", []uint64{1, 2, 3, 4, 4, 3, 2, 1}, Copies{4, 4, 4}, 1, 1},
		{"case 3", []uint64{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}, Copies{4, 4, 8}, 2, 1},
		{"case 4", []uint64{1, 1, 1, 2, 3, 3, 3, 4}, Copies{4, 2, 4}, 1, 0.5},
		{"one of four, three times", []uint64{1, 2, 2, 2, 3, 4}, Copies{4, 1, 2}, 0.5, 0.25},
		{"a lost one has no copies", []uint64{1, 3, 3}, Copies{2, 1, 1}, 0.5, 0.5},
	}
	for _, c := range cases {
		got := Duplication(c.seqs)
		if got != c.want || got.Fraction() != c.fraction || got.Rate() != c.rate {
			t.Errorf("%s: %+v, fraction %v, rate %v; want %+v, %v, %v", c.name, got, got.Fraction(), got.Rate(), c.want, c.fraction, c.rate)
		}
	}
}
