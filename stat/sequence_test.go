package stat

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLossRuns(t *testing.T) {
	const x, o = true, false // lost, arrived
	cases := []struct {
		lost []bool
		want []int
	}{
		{nil, nil},
		{[]bool{o, o, o}, nil},
		{[]bool{x}, []int{1}},
		{[]bool{o, x, o, x, x, x, o, x, x}, []int{1, 3, 2}},
		{[]bool{x, x, o}, []int{2}},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, LossRuns(c.lost)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.lost, diff)
		}
	}
}

func TestReordered(t *testing.T) {
	cases := []struct {
		name string
		seqs []uint64
		want int
	}{
		{"nothing", nil, 0},
		{"in order", []uint64{1, 2, 3, 4}, 0},
		{"with gaps", []uint64{1, 5, 9}, 0},
		{"packet 4 late by three", []uint64{1, 2, 3, 5, 6, 7, 4, 8, 9}, 1},
		{"a block late: 4, 5, 6 after 8", []uint64{1, 2, 3, 7, 8, 4, 5, 6, 9}, 3},
		{"early packet makes all it overtook late", []uint64{1, 10, 2, 3}, 2},
		{"duplicate is not reordered", []uint64{1, 2, 2, 1, 3}, 0},
		{"late packet and its duplicate count once", []uint64{1, 3, 2, 2}, 1},
		{"the last sequence number there is", []uint64{math.MaxUint64, 0}, 1},
	}
	for _, c := range cases {
		if got := Reordered(c.seqs); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
