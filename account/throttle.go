package account

import (
	"container/list"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// throttle counts wrong passwords and says how long the next attempt has to wait.
//
// What is counted depends on whether the person of the account has signed in from that network before:
//
//	known network:    the pair of name and network, alone
//	any other:        the network (whatever names it tries), and the name (whatever networks try it)
//
// So nobody elsewhere can keep a person out who comes from where they always come from, and neither many networks at
// one name nor one network at many names get further than the delays allow. Attempts that were told to wait are not
// counted: to insist does not make it longer.
//
// Memory: of the names and networks tried last, mostCounted. To push one's own count out, one has to have as many
// passwords looked at, which takes longer (passwordVerifier) than the longest delay.
type throttle struct {
	mu     sync.Mutex
	seed   maphash.Seed
	counts map[throttleKey]*list.Element
	recent *list.List // of *count, the last failure first
}

// throttleKey is of a name (hashed, so that a long one takes no more room), a network, or both.
type throttleKey struct {
	name    uint64
	network netip.Prefix
}

type count struct {
	throttleKey
	wrong int
	last  time.Time
}

const (
	// freeAttempts is how often anybody may mistype before it takes time.
	freeAttempts = 5
	// firstDelay doubles with each further failure up to longestDelay: 15 failures in the first half hour, 96 a day
	// from then on. NIST SP 800-63B, section 5.2.2, would let an attacker have 100 altogether, and then lock the
	// account for good, which we do not: anybody could do that to anyone.
	firstDelay   = time.Second
	longestDelay = 15 * time.Minute
	// forgetAfter is when a failure is forgotten, unless others followed it.
	forgetAfter = 24 * time.Hour
	// mostCounted are 3 MB, and at two a failure and three failures a second (passwordVerifier) 45 minutes' worth.
	mostCounted = 16384
)

func newThrottle() *throttle {
	return &throttle{seed: maphash.MakeSeed(), counts: map[throttleKey]*list.Element{}, recent: list.New()}
}

func (t *throttle) keys(name string, network netip.Prefix, known bool) []throttleKey {
	n := maphash.String(t.seed, name)
	if known {
		return []throttleKey{{n, network}}
	}
	// The zero network is that of no address; a name's key has one that no address has.
	return []throttleKey{{0, network}, {n, anyNetwork}}
}

var anyNetwork = netip.PrefixFrom(netip.IPv6Unspecified(), 0)

// wait returns how long an attempt has to wait; 0: not at all.
func (t *throttle) wait(keys []throttleKey, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	longest := time.Duration(0)
	for _, k := range keys {
		if e := t.counts[k]; e != nil {
			longest = max(longest, e.Value.(*count).wait(now))
		}
	}
	return longest
}

func (c *count) wait(now time.Time) time.Duration {
	if c.wrong < freeAttempts {
		return 0
	}
	delay := longestDelay
	if doublings := c.wrong - freeAttempts; doublings < 10 { // 2^10 s are more than longestDelay
		delay = min(firstDelay<<doublings, longestDelay)
	}
	return min(c.last.Add(delay).Sub(now), delay) // more than delay only if the clock was set back
}

func (t *throttle) failed(keys []throttleKey, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range keys {
		e := t.counts[k]
		if e == nil {
			e = t.recent.PushFront(&count{throttleKey: k})
			t.counts[k] = e
		}
		c := e.Value.(*count)
		if now.Sub(c.last) > forgetAfter {
			c.wrong = 0
		}
		c.wrong, c.last = c.wrong+1, now
		t.recent.MoveToFront(e)
	}
	for t.recent.Len() > mostCounted {
		delete(t.counts, t.recent.Remove(t.recent.Back()).(*count).throttleKey)
	}
}

// passed forgets what a person mistyped on a known network. What was counted for a network or a name stays: others may
// have made those attempts, and who has an account of their own must not clear them by signing in.
func (t *throttle) passed(keys []throttleKey) {
	if len(keys) != 1 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.counts[keys[0]]; e != nil {
		t.recent.Remove(e)
		delete(t.counts, keys[0])
	}
}
