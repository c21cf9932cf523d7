package fleet

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// filers take messages, each of hosts of its own: one that waits for the archive holds up no other's.
	filers = 8
	// together are how many messages a filer takes at most, where as many wait. It makes a call of File of each host's: up to
	// 256 calls at once, that a store can put on disk with one sync.
	together = 32
	// prefetch of messages from the server: enough to keep every filer busy.
	prefetch = 128
	// streamPulse of the stream; after two that did not come it is made again, if need be.
	streamPulse = time.Second
	// longestPause before the archive is tried again with what it would not take.
	longestPause = 30 * time.Second
)

// filing is one run of Hub.file: messages fan out by host, so that those of one host stay in order.
//
//	stream RESULTS --> file --> filer 0..7 --> pieces, decode --> Receiver.File, a host each --> Filed to the host, ack to the stream
//	                                                                    error --> nak: the stream sends it again, later
type filing struct {
	hub     *NATSHub
	to      Receiver
	failing atomic.Bool // the last File failed; said once
}

// file hands Results over until ctx ends.
func (h *NATSHub) file(ctx context.Context, r Receiver) error {
	f := &filing{hub: h, to: r}
	var queues [filers]chan jetstream.Msg
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range queues {
		queues[i] = make(chan jetstream.Msg, unacknowledged) // never blocks: the server sends no more than these
		defer close(queues[i])
		wg.Go(func() { f.run(ctx, queues[i]) })
	}
	seed := maphash.MakeSeed()
	for attempt := 1; ; attempt++ {
		err := h.receive(ctx, func(m jetstream.Msg) {
			attempt = 1
			queues[maphash.String(seed, m.Subject())%filers] <- m
		})
		if ctx.Err() != nil {
			return nil
		}
		h.log.Warn("cannot receive results; trying again", "error", err)
		if !sleep(ctx, backoff(attempt, hubWait, rand.Float64)) {
			return nil
		}
	}
}

// receive reads the stream until that fails or ctx ends.
func (h *NATSHub) receive(ctx context.Context, each func(jetstream.Msg)) error {
	c, err := h.consumer(ctx)
	if err != nil {
		return err
	}
	it, err := c.Messages(jetstream.PullMaxMessages(prefetch), jetstream.PullHeartbeat(streamPulse), jetstream.PullExpiry(30*time.Second))
	if err != nil {
		return fmt.Errorf("read stream %s: %w", streamResults, err)
	}
	stop := context.AfterFunc(ctx, it.Stop)
	defer it.Stop()
	defer stop()
	for {
		m, err := it.Next()
		if err != nil {
			return fmt.Errorf("read stream %s: %w", streamResults, err)
		}
		each(m)
	}
}

// run files what comes in one queue until it is closed. After the end of ctx it lets the rest be: it comes again.
func (f *filing) run(ctx context.Context, queue <-chan jetstream.Msg) {
	parts := map[string]*pieces{}
	for first := range queue {
		msgs := []jetstream.Msg{first}
		for more := true; more && len(msgs) < together; {
			select {
			case m, open := <-queue:
				if more = open; open {
					msgs = append(msgs, m)
				}
			default:
				more = false
			}
		}
		if ctx.Err() != nil {
			continue
		}
		// Each host's by itself, so that one whose Results the archive refuses holds up nobody; and at once, so that it can put
		// them on disk together.
		var calls sync.WaitGroup
		for _, d := range f.read(msgs, parts) {
			calls.Go(func() { f.deliver(ctx, d) })
		}
		calls.Wait()
	}
}

// deliver files Results, tells their host, and only then lets the stream forget them.
func (f *filing) deliver(ctx context.Context, d *delivery) {
	if err := f.to.File(ctx, d.host, d.results); err != nil {
		f.failed(ctx, err)
		for _, m := range d.msgs {
			acknowledge(func() error { return m.NakWithDelay(comesAgain(m)) })
		}
		return
	}
	if f.failing.CompareAndSwap(true, false) {
		f.hub.log.Info("results are filed again")
	}
	if err := f.hub.filed(d); err != nil {
		f.hub.log.Warn("tell a host what is filed", "host", d.host, "error", err) // it sends them again
	}
	for _, m := range d.msgs {
		acknowledge(m.Ack)
	}
}

func (f *filing) failed(ctx context.Context, err error) {
	if ctx.Err() == nil && !f.failing.Swap(true) {
		f.hub.log.Error("results cannot be filed; they come again", "error", err)
	}
}

// comesAgain is how long a message waits after the archive failed: longer with each time.
func comesAgain(m jetstream.Msg) time.Duration {
	meta, err := m.Metadata()
	if err != nil {
		return time.Second
	}
	return backoff(int(min(meta.NumDelivered, 10)), longestPause, rand.Float64)
}

// acknowledge tells the stream. Where that fails the message comes again, which does no harm.
func acknowledge(tell func() error) { _ = tell() }

// filed tells a host which of its Results are safe.
func (h *NATSHub) filed(d *delivery) error {
	to, err := h.keys.Agent(d.host)
	if errors.Is(err, ErrAway) {
		return nil // withdrawn meanwhile
	}
	if err != nil {
		return err
	}
	ids := make([]string, len(d.results))
	for i, r := range d.results {
		ids[i] = r.ID
	}
	sealed, err := h.seal(kindFiled, d.host, to, ids)
	if err != nil {
		return err
	}
	if err := h.nc.Publish(subjectFiled+token(d.host), sealed); err != nil {
		return notSent("send", err)
	}
	return nil
}
