package account

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Later refuses an attempt for now, right or wrong: nothing was checked.
type Later struct {
	After time.Duration // when it can be tried again, in whole seconds
	busy  bool
}

func (l *Later) Error() string {
	if l.busy {
		return fmt.Sprintf("too many are signing in; try again in %v", l.After)
	}
	return fmt.Sprintf("too many wrong passwords; try again in %v", l.After)
}

func tooMany(wait time.Duration) *Later {
	return &Later{After: (wait + time.Second - 1).Truncate(time.Second)}
}

// passwordVerifier looks at passwords, one at a time: each takes 64 MiB and a processor for up to a third of a second, and a
// controller has other things to do. That attempts come one after another is also what lets throttle count each before the
// next is looked at.
type passwordVerifier struct {
	cost     cost
	throttle *throttle
	slot     chan struct{}
	waiting  atomic.Int32
}

const (
	// longestQueue is how many attempts wait: some seconds' worth. Those from networks that an account's person is
	// known to sign in from have as many places more, so that strangers cannot take all.
	longestQueue = 16
	// busyAfter is when a place in the queue should be free again.
	busyAfter = time.Second
)

// enter waits until no other password is looked at. Whoever entered calls leave.
func (v *passwordVerifier) enter(ctx context.Context, places int32) (leave func(), err error) {
	defer v.waiting.Add(-1)
	if v.waiting.Add(1) > places {
		return nil, &Later{After: busyAfter, busy: true}
	}
	select {
	case v.slot <- struct{}{}:
		return func() { <-v.slot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hashOf hashes a password that is to be kept.
func (b *Book) hashOf(ctx context.Context, password string) (hash, error) {
	leave, err := b.verifier.enter(ctx, 2*longestQueue)
	if err != nil {
		return hash{}, err
	}
	defer leave()
	return newHash(b.random, b.verifier.cost, password)
}
