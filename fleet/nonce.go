package fleet

import (
	"crypto/rand"
	"errors"
	"sync"
	"time"
)

// nonces are how an agent tells a fresh order from one that somebody kept. It needs no right clock and no memory on disk:
// the agent names a random number in each status and in each refusal, an order must hold it, and it counts for a minute of
// the agent's own clock. Within that minute each order is taken once.
//
//	        fresh                     fresh                     fresh
//	|---- current, 30 s ----|---- former, 30 s ----| stale
//	                        |---- current ---------|---- former ...
//
// A clock that is set while a nonce counts makes it stale at worst: the controller then asks again with the new one.
type nonces struct {
	now func() time.Time

	mu              sync.Mutex
	current, former nonce
}

type nonce struct {
	value string
	born  time.Time
	seen  map[string]bool // orders that were taken under it
}

const (
	nonceTurn = 30 * time.Second // three reports: the controller knows the current one, or the one before
	nonceLife = 2 * nonceTurn
	// maxSeen bounds the memory of a nonce. No controller gives one host so many orders in a minute.
	maxSeen = 10_000
)

var (
	errStale    = errors.New("it is not fresh")
	errReplayed = errors.New("it was given before")
)

func newNonces(now func() time.Time) *nonces { return &nonces{now: now} }

// fresh is the nonce that an order should hold now.
func (n *nonces) fresh() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.turn()
	return n.current.value
}

// take admits an order once, if the nonce in it counts.
func (n *nonces) take(value, order string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.turn()
	for _, c := range []*nonce{&n.current, &n.former} {
		if c.value == "" || c.value != value {
			continue
		}
		if c.seen[order] || len(c.seen) >= maxSeen {
			return errReplayed
		}
		c.seen[order] = true
		return nil
	}
	return errStale
}

func (n *nonces) turn() {
	now := n.now()
	if !n.current.lives(now, nonceTurn) {
		n.former, n.current = n.current, nonce{value: rand.Text(), born: now, seen: map[string]bool{}}
	}
	if !n.former.lives(now, nonceLife) {
		n.former = nonce{}
	}
}

func (n *nonce) lives(now time.Time, life time.Duration) bool {
	age := now.Sub(n.born)
	return n.value != "" && age >= 0 && age < life
}
