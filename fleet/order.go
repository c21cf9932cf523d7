package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// orderTime is how long a host may take to answer an order, if ctx does not say less.
const orderTime = 5 * time.Second

// Order implements Hub. It may return ErrNoAnswer, too: the host may or may not have done it.
func (h *NATSHub) Order(ctx context.Context, host string, o Order) error {
	to, err := h.keys.Agent(host)
	if err != nil {
		return fmt.Errorf("order %s: %w", host, err)
	}
	ctx, cancel := context.WithTimeout(ctx, orderTime)
	defer cancel()
	h.mu.Lock()
	nonce := h.nonces[host]
	h.mu.Unlock()
	// Twice at most: a host that finds the nonce stale names the one to use.
	for range 2 {
		m := orderMessage{ID: rand.Text(), Nonce: nonce, Order: o}
		answer, err := h.order(ctx, host, to, m)
		if err != nil {
			return fmt.Errorf("order %s: %w", host, err)
		}
		if answer.Error != "" {
			return &Refusal{Host: host, Why: answer.Error}
		}
		if answer.Nonce == "" {
			return nil
		}
		nonce = answer.Nonce
		h.mu.Lock()
		h.nonces[host] = nonce
		h.mu.Unlock()
	}
	return &Refusal{Host: host, Why: errStale.Error()}
}

func (h *NATSHub) order(ctx context.Context, host string, to AgentKeys, m orderMessage) (answer orderAnswer, err error) {
	sealed, err := h.seal(kindOrder, host, to, m)
	if err != nil {
		return answer, err
	}
	reply, err := h.nc.RequestWithContext(ctx, subjectOrder+token(host), sealed)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return answer, ErrNoAnswer
	case err != nil:
		return answer, notSent("send", err)
	}
	if err := json.Unmarshal(reply.Data, &answer); err != nil {
		return answer, fmt.Errorf("read its answer: %w", err)
	}
	return answer, nil
}

// Watch implements Hub.
func (h *NATSHub) Watch(ctx context.Context, host, run string, ready chan<- struct{}, each func(Progress)) error {
	sub, err := h.nc.SubscribeSync(subjectLive + token(host) + "." + token(run))
	if err != nil {
		return fmt.Errorf("watch %s: %w", run, err)
	}
	defer sub.Unsubscribe()
	if err := h.flush(ctx); err != nil {
		return fmt.Errorf("watch %s: %w", run, err)
	}
	if ready != nil {
		close(ready)
	}
	for parts := (pieces{}); ; {
		m, err := sub.NextMsgWithContext(ctx)
		if errors.Is(err, nats.ErrSlowConsumer) {
			continue // some are lost: who watches is slower than what he watches
		}
		if err != nil {
			return fmt.Errorf("watch %s: %w", run, err)
		}
		whole, err := parts.add(m, maxResults)
		if err == nil && whole == nil {
			continue
		}
		var p Progress
		if err == nil {
			err = h.packer.unpack(whole, &p, maxResults)
		}
		if err != nil || p.Run != run {
			h.drop(host, "no progress", err)
			continue
		}
		each(p)
		if p.Result != nil {
			return nil
		}
	}
}

func (h *NATSHub) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return h.nc.FlushWithContext(ctx)
}
