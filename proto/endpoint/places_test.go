package endpoint

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
)

// A client with a place has one connection beside it that needs none, and one alone; for a test on that it needs a place after all.
func TestPlaceBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(2)
		ann, bob := client{netip.MustParseAddr("127.0.0.1"), "ann"}, client{netip.MustParseAddr("127.0.0.1"), "bob"}
		var seats []*seat
		var got []bool
		enter := func(c client, beside bool) {
			s, free := p.enter(t.Context(), c, beside)
			got, seats = append(got, free), append(seats, s)
		}
		enter(ann, true)  // 0: takes a place
		enter(ann, true)  // 1: beside it
		enter(ann, true)  // 2: takes the other place
		enter(ann, true)  // 3: beside that
		enter(ann, true)  // there is none left
		enter(bob, true)  // nor for another client
		enter(ann, false) // nor where the server lets nobody in beside
		got = append(got, seats[1].take())
		seats[2].leave()
		got = append(got, seats[1].take(), seats[1].take())
		for _, i := range []int{0, 1, 3} {
			seats[i].leave()
		}
		if want := []bool{true, true, true, true, false, false, false, false, true, true}; !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if len(p.free) > 0 || len(p.spares) > 0 {
			t.Errorf("%d places taken, and spare ones %v, after all have left", len(p.free), p.spares)
		}
	})
}

// Who waits for a place when the server ends waits no longer.
func TestNoPlaceAtTheEnd(t *testing.T) {
	p := newPlaces(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.free <- struct{}{}
	if _, free := p.enter(ctx, client{}, false); free {
		t.Error("let in")
	}
}
