package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/semaphore"

	"github.com/pathwise-net/pathwise/measure"
)

const (
	// unpackedAtOnce bounds what is unpacked for the archive at the same time, of all hosts. As Go values it takes some times
	// as much.
	unpackedAtOnce = 2 * maxResults
	// leastUnpacked is what a call of File counts for at least: up to 384 at once, that a store can put on disk with one sync.
	leastUnpacked = unpackedAtOnce / 384
	// together are how many messages of a host go to one call of File at most.
	together = 32
	// longestPause before the archive is tried again with what it would not take.
	longestPause = 30 * time.Second
)

// filing files what hosts deliver, each host by itself: one whose Results the archive refuses holds up nobody.
//
//	pathwise.result.H --> intake: share of H --> pieces, decode --> Receiver.File --> Filed to H
//	          answer: taken, or behind                                   error --> again, later
type filing struct {
	hub       *NATSHub
	to        Receiver
	intake    intake
	unpacking *semaphore.Weighted
	failing   atomic.Bool // the last File failed; said once
}

func newFiling(h *NATSHub, to Receiver) *filing {
	return &filing{hub: h, to: to, intake: newIntake(), unpacking: semaphore.NewWeighted(unpackedAtOnce)}
}

// take admits one message and answers it. The answer goes to the host's own inbox or nowhere.
func (f *filing) take(ctx context.Context, m *nats.Msg) {
	host := hostOf(m.Subject, subjectResult)
	if !ownInbox(host, m.Reply) {
		f.hub.drop(host, "results whose answer is for somebody else", errForeignReply)
		return
	}
	answer := answerBehind
	share, first, err := f.intake.admit(host, m)
	switch {
	case errors.Is(err, ErrBehind):
	case err != nil:
		return // it is ending; the host delivers again
	default:
		answer = answerTaken
	}
	if first {
		go func() { defer f.intake.filers.Done(); f.run(ctx, host, share) }()
	}
	if err := f.hub.nc.Publish(m.Reply, []byte(answer)); err != nil {
		f.hub.log.Debug("answer a delivery", "host", host, "error", err) // the host delivers again
	}
}

// end admits nothing more and waits until nothing is being filed. ctx of take must have ended.
func (f *filing) end() {
	f.intake.close()
	f.intake.filers.Wait()
}

// run files what waits of one host, in its order, until nothing does.
func (f *filing) run(ctx context.Context, host string, s *share) {
	for ctx.Err() == nil {
		wholes, bad := f.intake.next(s)
		for _, err := range bad {
			f.hub.drop(host, "no part of results", err)
		}
		if len(wholes) == 0 {
			if f.intake.rest(s) {
				return
			}
			continue
		}
		f.deliver(ctx, host, wholes)
		f.intake.done(s, wholes)
	}
}

// deliver files Results and tells their host. After the end of ctx it lets the rest be: it comes again.
func (f *filing) deliver(ctx context.Context, host string, wholes [][]byte) {
	for attempt := 1; ; attempt++ {
		results, err := f.try(ctx, host, wholes, attempt)
		if err == nil {
			if f.failing.CompareAndSwap(true, false) {
				f.hub.log.Info("results are filed again")
			}
			if err := f.hub.filed(host, results); err != nil {
				f.hub.log.Warn("tell a host what is filed", "host", host, "error", err) // it sends them again
			}
			return
		}
		if ctx.Err() == nil && !f.failing.Swap(true) {
			f.hub.log.Error("results cannot be filed; they are tried again", "error", err)
		}
		if !sleep(ctx, backoff(attempt, longestPause, rand.Float64)) {
			return
		}
	}
}

// try unpacks, files and lets go of all but who the Results are: what waits for another attempt waits packed.
func (f *filing) try(ctx context.Context, host string, wholes [][]byte, attempt int) (ids []string, err error) {
	weight := int64(0)
	for _, w := range wholes {
		size, _ := unpackedSize(w, maxResults)
		weight += int64(size)
	}
	weight = max(weight, leastUnpacked)
	if err := f.unpacking.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	defer f.unpacking.Release(weight)
	var results []*measure.Result
	for _, w := range wholes {
		raw, err := f.hub.packer.decompress(w, maxResults)
		if err == nil {
			var some []*measure.Result
			some, err = decode(host, raw)
			results = append(results, some...)
		}
		if err != nil && attempt == 1 {
			f.hub.drop(host, "no results of its sender", err)
		}
	}
	if len(results) == 0 {
		return nil, nil
	}
	for _, r := range results {
		ids = append(ids, r.ID)
	}
	return ids, f.file(ctx, host, results)
}

// filed tells a host which of its Results are safe.
func (h *NATSHub) filed(host string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	to, err := h.keys.Agent(host)
	if errors.Is(err, ErrAway) {
		return nil // withdrawn meanwhile
	}
	if err != nil {
		return err
	}
	sealed, err := h.seal(kindFiled, host, to, ids)
	if err != nil {
		return err
	}
	if err := h.nc.Publish(subjectFiled+token(host), sealed); err != nil {
		return notSent("send", err)
	}
	return nil
}
