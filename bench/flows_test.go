package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A datagram that is late is so by itself; one that comes early makes the others late.
func TestPlaces(t *testing.T) {
	pieces := []piece{{1000, 1}, {1110, 1}, {1195, 1}, {1300, 1}}
	if diff := cmp.Diff([]float64{5, 15, 0, 5}, places(pieces, 100)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := places(nil, 100); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
