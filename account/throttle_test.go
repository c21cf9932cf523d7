package account

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/admission"
)

func TestDelaysGrow(t *testing.T) {
	th, c := newThrottle(), newClock()
	keys := th.keys("ann", admission.NetworkOf(away), false)
	var got []time.Duration
	for range 18 {
		th.failed(keys, c.now())
		wait := th.wait(keys, c.now())
		got = append(got, wait)
		c.add(wait)
		if wait := th.wait(keys, c.now()); wait > 0 {
			t.Fatalf("still %v to wait when the wait is over", wait)
		}
	}
	s := time.Second
	want := []time.Duration{0, 0, 0, 0, s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 512 * s,
		longestDelay, longestDelay, longestDelay, longestDelay}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("delays (-want +got):\n%s", diff)
	}
	c.add(forgetAfter)
	th.failed(keys, c.now())
	if wait := th.wait(keys, c.now()); wait != 0 {
		t.Errorf("%v to wait after one failure in a day", wait)
	}
}

func TestClockSetBackLocksNobodyOut(t *testing.T) {
	th, c := newThrottle(), newClock()
	keys := th.keys("ann", admission.NetworkOf(away), false)
	for range 30 {
		th.failed(keys, c.now())
	}
	c.add(-1000 * time.Hour)
	if wait := th.wait(keys, c.now()); wait > longestDelay {
		t.Errorf("%v to wait, want at most %v", wait, longestDelay)
	}
}

// TestWhatCountsTogether says whose failures hold whom up.
func TestWhatCountsTogether(t *testing.T) {
	for _, c := range []struct {
		name           string
		failed, tried  [2]string // name, address
		known, heldsUp bool
	}{
		{"the same", [2]string{"ann", "192.0.2.1"}, [2]string{"ann", "192.0.2.1"}, false, true},
		{"one name from elsewhere", [2]string{"ann", "192.0.2.1"}, [2]string{"ann", "2001:db8::1"}, false, true},
		{"another name from one address", [2]string{"ann", "192.0.2.1"}, [2]string{"bob", "192.0.2.1"}, false, true},
		{"IPv4 in IPv6", [2]string{"ann", "192.0.2.1"}, [2]string{"bob", "::ffff:192.0.2.1"}, false, true},
		{"one /64", [2]string{"ann", "2001:db8::1"}, [2]string{"bob", "2001:db8::2:3:4:5"}, false, true},
		{"another /64", [2]string{"ann", "2001:db8::1"}, [2]string{"bob", "2001:db8:0:1::1"}, false, false},
		{"the next address", [2]string{"ann", "192.0.2.1"}, [2]string{"bob", "192.0.2.2"}, false, false},
		{"this machine", [2]string{"ann", ""}, [2]string{"bob", ""}, false, true},
		{"this machine and a network", [2]string{"ann", ""}, [2]string{"bob", "192.0.2.2"}, false, false},
		{"loopback", [2]string{"ann", "::1"}, [2]string{"bob", "::"}, false, true},
		{"known: attack from elsewhere", [2]string{"ann", "192.0.2.1"}, [2]string{"ann", "192.0.2.9"}, true, false},
		{"known: attack from the same network", [2]string{"ann", "192.0.2.1"}, [2]string{"ann", "192.0.2.1"}, true, false},
	} {
		th, now := newThrottle(), newClock().now()
		key := func(who [2]string, known bool) []throttleKey {
			address, _ := netip.ParseAddr(who[1])
			return th.keys(who[0], admission.NetworkOf(address), known)
		}
		for range freeAttempts {
			th.failed(key(c.failed, false), now)
		}
		if wait := th.wait(key(c.tried, c.known), now); (wait > 0) != c.heldsUp {
			t.Errorf("%s: %v to wait, want any: %v", c.name, wait, c.heldsUp)
		}
	}
}

func TestThrottleIsBounded(t *testing.T) {
	th, c := newThrottle(), newClock()
	for n := range 2 * mostCounted {
		address := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
		th.failed(th.keys(fmt.Sprint("name", n), admission.NetworkOf(address), false), c.now())
	}
	if len(th.counts) != mostCounted || th.recent.Len() != mostCounted {
		t.Errorf("%d and %d counted, want %d", len(th.counts), th.recent.Len(), mostCounted)
	}
}

// TestOwnerIsNotLockedOut has strangers attack a name from many networks: its person still signs in from where they always
// do, at the first attempt, and from elsewhere within the longest delay.
func TestOwnerIsNotLockedOut(t *testing.T) {
	c := newClock()
	folder := t.TempDir()
	b := openBook(t, folder, c)
	newPerson(t, b, "ann", Viewer)
	signIn(t, b, "ann", phrase, office)
	for n := range 40 {
		c.add(time.Second)
		_, err := b.verify(t.Context(), "ann", "wrong password", netip.AddrFrom4([4]byte{203, 0, 113, byte(n)}))
		if later := new(Later); !errors.Is(err, ErrCredentials) && !errors.As(err, &later) {
			t.Fatal(err)
		}
	}
	_, err := b.verify(t.Context(), "ann", phrase, away)
	var later *Later
	if !errors.As(err, &later) || later.After <= 0 || later.After > longestDelay {
		t.Fatalf("the right password from an unknown network: %v, want a wait", err)
	}
	_, err = b.verify(t.Context(), "ann", phrase, office)
	expect(t, "from the office", err, nil)
	again := openBook(t, folder, c)
	if known, err := again.known("ann", admission.NetworkOf(office)); !known || err != nil {
		t.Errorf("known after a restart: %v, %v", known, err)
	}
	c.add(later.After)
	_, err = b.verify(t.Context(), "ann", phrase, away)
	expect(t, "after the wait", err, nil)
}

// TestOwnMistakesAreForgotten has a person mistype on a known network, and sign in before it takes time.
func TestOwnMistakesAreForgotten(t *testing.T) {
	b := openBook(t, t.TempDir(), newClock())
	newPerson(t, b, "ann", Viewer)
	signIn(t, b, "ann", phrase, office)
	for range 5 {
		for range freeAttempts - 1 {
			_, err := b.verify(t.Context(), "ann", "wrong password", office)
			expect(t, "wrong", err, ErrCredentials)
		}
		_, err := b.verify(t.Context(), "ann", phrase, office)
		expect(t, "right", err, nil)
	}
}

func TestLaterIsInWholeSeconds(t *testing.T) {
	for _, c := range []struct {
		wait time.Duration
		want string
	}{
		{time.Nanosecond, "too many wrong passwords; try again in 1s"},
		{time.Second, "too many wrong passwords; try again in 1s"},
		{1001 * time.Millisecond, "too many wrong passwords; try again in 2s"},
		{longestDelay, "too many wrong passwords; try again in 15m0s"},
	} {
		if got := tooMany(c.wait).Error(); got != c.want {
			t.Errorf("%v: %q, want %q", c.wait, got, c.want)
		}
	}
}
