package fleet

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

func TestBatches(t *testing.T) {
	var want []*measure.Result
	for i := range 200 {
		want = append(want, testResult("ucl", testRun("ucl", string(rune('a'+i%26))+"-"+strings.Repeat("x", i%7), i%100)))
	}
	batches, err := encode(want)
	if err != nil {
		t.Fatal(err)
	}
	if len(batches) < 2 {
		t.Errorf("%d results in %d batches", len(want), len(batches))
	}
	var got []*measure.Result
	for _, b := range batches {
		if len(b) > 2*batchBytes {
			t.Errorf("a batch of %d bytes", len(b))
		}
		some, bad := decode("ucl", b)
		if bad != nil {
			t.Error(bad)
		}
		got = append(got, some...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%.1000s", diff)
	}
	long := testResult("ucl", testRun("ucl", "long", 1))
	long.Samples.Output = &measure.Output{Stdout: strings.Repeat("x", maxResults)}
	var large *TooLarge
	if _, err := encode(results(long)); !errors.As(err, &large) || large.ID != "long" {
		t.Errorf("a result that cannot be carried: %v", err)
	}
}

func TestPieces(t *testing.T) {
	whole := bytes.Repeat([]byte("0123456789abcdef"), 3*pieceBytes/16+5)
	all := messages("s", whole)
	if len(all) != 4 {
		t.Fatalf("%d bytes in %d pieces", len(whole), len(all))
	}
	feed := func(order ...int) (got []byte, failed []int) {
		var p pieces
		for i, n := range order {
			data, err := p.add(all[n], maxResults)
			if err != nil {
				failed = append(failed, i)
			}
			if data != nil {
				got = data
			}
		}
		return got, failed
	}
	for _, c := range []struct {
		order  []int
		whole  bool
		failed []int
	}{
		{[]int{0, 1, 2, 3}, true, nil},
		{[]int{0, 1, 0, 1, 2, 3}, true, nil}, // the sender began again
		{[]int{0, 2, 3}, false, []int{1, 2}},
		{[]int{1, 2, 3}, false, []int{0, 1, 2}},
		{[]int{0, 1, 1, 2, 3}, false, []int{2, 3, 4}},
		{[]int{3, 0, 1, 2}, false, []int{0}},
	} {
		got, failed := feed(c.order...)
		if (got != nil) != c.whole || !slices.Equal(failed, c.failed) || c.whole && !bytes.Equal(got, whole) {
			t.Errorf("pieces %v: whole %v, failed at %v, want %v, %v", c.order, got != nil, failed, c.whole, c.failed)
		}
	}
}
