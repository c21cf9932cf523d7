package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

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
