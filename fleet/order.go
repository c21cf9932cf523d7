package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"
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
