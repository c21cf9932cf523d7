package export

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/archive"
)

// Run sends until ctx ends, and then returns within a second. What is not sent by then, the next Run sends. Its error says why the
// file of what is not sent could not be written at the end.
func (w *RemoteWriter) Run(ctx context.Context) error {
	defer w.client.CloseIdleConnections()
	for ctx.Err() == nil {
		batch, old, reading := w.next()
		switch {
		case reading:
			w.doneReading(old, w.catchUp(ctx, old) != nil)
		case len(batch) > 0:
			w.done(batch, w.send(ctx, batch) != nil)
		default:
			w.linger(ctx)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(w.unsent())
}

// linger waits for something to send, and then for more of it.
func (w *RemoteWriter) linger(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-w.wake:
	}
	timer := time.NewTimer(w.o.Linger)
	defer timer.Stop()
	for !w.full() {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-w.wake:
		}
	}
}

// catchUp sends what the archive has of a slot. An error says that it has to be done again.
func (w *RemoteWriter) catchUp(ctx context.Context, s slot) error {
	var all []parcel
	query := archive.ResultQuery{From: s.start(), To: (s + 1).start(), Limit: 1000, Subject: "*"}
	for r, err := range w.archive.All(ctx, query) {
		if err != nil {
			if ctx.Err() == nil {
				w.o.Log.Error("cannot read from the archive what remote write has not sent",
					"receiver", w.o.Name, "time", s.start(), "err", err)
				pause(ctx, 4*w.o.Retry) // an archive that fails is mostly back soon: what ails it is its disk or its server's restart
			}
			return err
		}
		all = append(all, pack(r))
	}
	slices.Reverse(all) // the archive gives the newest first
	for len(all) > 0 {
		var batch []parcel
		batch, all = cut(all, w.o.Batch)
		if err := w.send(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// send delivers parcels, in order of time, and counts what came of it. It fails only when ctx ends.
func (w *RemoteWriter) send(ctx context.Context, batch []parcel) error {
	slices.SortStableFunc(batch, func(a, b parcel) int { return cmp.Compare(a.millis, b.millis) })
	refused, err := w.deliver(ctx, batch)
	if refused != nil {
		w.o.Log.Warn("a receiver of remote write refused samples for good",
			"receiver", w.o.Name, "samples", refused.samples, "last", refused.Error())
	}
	return err
}

// deliver sends parcels until they are accepted or refused. A receiver that refuses one sample may refuse a whole
// request, so of a refused request it sends each half, until it knows the parcels that are refused.
func (w *RemoteWriter) deliver(ctx context.Context, batch []parcel) (*refusal, error) {
	samples := 0
	for _, p := range batch {
		samples += p.samples
	}
	err := w.push(ctx, request(batch))
	var refused *refusal
	switch {
	case err == nil:
		w.count(func(s *RemoteStats) { s.Sent += uint64(samples) })
		return nil, nil
	case !errors.As(err, &refused):
		return nil, err
	case len(batch) == 1:
		w.count(func(s *RemoteStats) { s.Refused += uint64(samples) })
		refused.samples = samples
		return refused, nil
	}
	half := len(batch) / 2
	first, err := w.deliver(ctx, batch[:half])
	if err != nil {
		return first, err
	}
	second, err := w.deliver(ctx, batch[half:])
	return first.add(second), err
}

// Waits between requests that fail.
const (
	maxRetry      = 30 * time.Second // so that a receiver that works again gets its samples within half a minute
	maxRetryAfter = 10 * time.Minute // of Retry-After: a receiver that asks for longer is asked again all the same
)

// push posts one request until it is accepted (nil), refused (*refusal) or ctx ends.
func (w *RemoteWriter) push(ctx context.Context, body []byte) error {
	for wait := w.o.Retry; ; wait = min(2*wait, maxRetry) {
		err := w.post(ctx, body)
		var refused *refusal
		if err == nil || errors.As(err, &refused) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		pausing := wait
		if later := (*busy)(nil); errors.As(err, &later) {
			pausing = max(wait, min(later.after, maxRetryAfter))
		}
		w.count(func(s *RemoteStats) { s.Failed++ })
		w.o.Log.Warn("cannot send to a receiver of remote write, will try again",
			"receiver", w.o.Name, "in", pausing.String(), "err", err)
		pause(ctx, pausing)
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
