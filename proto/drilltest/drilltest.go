// Package drilltest is a fault drill for tests of protocols over TCP: peers that vanish, say nothing, or say what no client says. It holds
// clients and servers to three promises: nobody hangs beyond the stated limit, nothing is left behind, and the server serves on.
//
// It knows no protocol. A peer vanishes in a relay between the two ends, which passes so many bytes and then cuts.
package drilltest

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// Subject is what is drilled: a server, and tests that a client makes with it.
type Subject struct {
	// Serve serves at a free port of 127.0.0.1 until stop is called, which waits for all that the server began. It lets in 100 tests at once.
	Serve func(t *testing.T) (at netip.AddrPort, stop func())
	// Tests are those of a client, by name. Each takes a fraction of a second, and returns an error where it did not come to its end.
	Tests map[string]func(ctx context.Context, at netip.AddrPort) error
	// Limit is the stated one: the most that either end waits for a peer that has fallen silent, and for the end of a test.
	Limit time.Duration
	// Varies says that a test passes another number of bytes each time, so that one which is cut late may have come to its end.
	Varies bool
	// Datagrams says that tests also send datagrams to the server's port.
	Datagrams bool
	// Wrong are first bytes that no client sends, such as a wrong cookie, beside those that are wrong everywhere.
	Wrong [][]byte
}

const (
	points = 20
	// slack is what a machine that does much else may add to a limit. What hangs takes longer.
	slack = 20 * time.Second
	// atOnce keeps drills below the 64 connections of one network that servers let in before they have said a word.
	atOnce = 48
	// ownParts is more than a server has goroutines and descriptors of its own, and fewer than the drills would leave if each left one.
	ownParts = 12
)

// Run drills a subject. The test that calls it is not parallel to others, whose goroutines it would count.
func Run(t *testing.T, s Subject) {
	goroutines, descriptors := runtime.NumGoroutine(), openDescriptors(t)
	at, stop := s.Serve(t)
	s.vanish(t, at)
	s.silent(t, at)
	s.wrong(t, at)
	settle(t, "while it serves", goroutines+ownParts, descriptors+ownParts)
	for name := range s.Tests {
		s.serves(t, name, at, "after all drills")
	}
	stop()
	settle(t, "after its end", goroutines, descriptors+2) // of the runtime's poller, if it was not there before
}

// serves waits until a test comes to its end, as the first does unless the machine is busy, and returns how many bytes it passed.
func (s Subject) serves(t *testing.T, name string, at netip.AddrPort, when string) (bytes int64) {
	t.Helper()
	for late := time.Now().Add(s.Limit + slack); ; {
		whole := newRelay(t, at, cut{after: never}, s)
		err := s.Tests[name](t.Context(), whole.at)
		whole.close()
		if err == nil {
			return whole.passed.Load()
		}
		if time.Now().After(late) {
			t.Fatalf("%s %s: %v", name, when, err)
		}
	}
}

// vanish has the peer of either end vanish at points of each test, in each manner.
func (s Subject) vanish(t *testing.T, at netip.AddrPort) {
	var group sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for name := range s.Tests {
		s.vanishIn(t, name, at, places, &group)
	}
	group.Wait()
}

func (s Subject) vanishIn(t *testing.T, name string, at netip.AddrPort, places chan struct{}, group *sync.WaitGroup) {
	test, total := s.Tests[name], s.serves(t, name, at, "by way of a relay")
	for _, how := range []manner{silence, fin, reset} {
		for i, bytes := range cuts(total) {
			places <- struct{}{}
			group.Go(func() {
				defer func() { <-places }()
				what := fmt.Sprintf("%s, %v after %d of %d bytes", name, how, bytes, total)
				r := newRelay(t, at, cut{how, bytes, i%2 == 1}, s)
				began := time.Now()
				err := test(t.Context(), r.at)
				if took := time.Since(began); took > s.Limit+slack {
					t.Errorf("%s: the client took %v, stated is %v", what, took, s.Limit)
				}
				if early := bytes <= total*17/20; err == nil && early && (!s.Varies || bytes < fewBytes) {
					t.Errorf("%s: the client says nothing of it", what)
				}
				r.awaitServer(t, what)
				r.close()
			})
		}
	}
}

// fewBytes are those in which clients and servers agree on a test.
const fewBytes = 1000

// cuts are the points, in bytes, of an exchange that has so many: most of them while the ends agree on what to do, the others spread by a
// constant ratio over what follows.
func cuts(total int64) []int64 {
	head, many := min(total, fewBytes), int64(points)
	if total > fewBytes {
		many = points * 3 / 5
	}
	var all []int64
	for i := range many {
		all = append(all, head*i/many)
	}
	for i := many; i < points; i++ {
		before := all[len(all)-1]
		all = append(all, before+max(1, (total-before)/2))
	}
	return all
}

// settle waits until no more goroutines and descriptors are left than there may be.
func settle(t *testing.T, when string, goroutines, descriptors int) {
	t.Helper()
	late := time.Now().Add(slack)
	for runtime.NumGoroutine() > goroutines || openDescriptors(t) > descriptors {
		if time.Now().After(late) {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			t.Fatalf("%s: %d goroutines and %d descriptors, want at most %d and %d\n%s", when, runtime.NumGoroutine(), openDescriptors(t), goroutines,
				descriptors, slices.Clip(stacks))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func openDescriptors(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
