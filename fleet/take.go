package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
)

// orderMessage is an Order on its way, sealed.
type orderMessage struct {
	ID    string `json:"id"` // of this order: it is done once
	Nonce string `json:"nonce"`
	Order Order  `json:"order"`
}

// orderAnswer comes back in the clear: it tells an eavesdropper whether a host obeys, and moves nothing.
type orderAnswer struct {
	Error string `json:"error,omitempty"`
	Nonce string `json:"nonce,omitempty"` // set if the order's was stale: the one to use
}

// headerNonce is in each status: what the next order should hold.
const headerNonce = "Pathwise-Nonce"

// take gives one message of the controller to the Handler, if it is the controller's.
func (l *NATSLink) take(ctx context.Context, h Handler, s *session, m *nats.Msg) {
	var err error
	switch {
	case m.Subject == planInbox(l.config.Credentials.Host):
		// There is no plan yet, or (503, the server's word for it) nobody yet who has plans.
		s.planned = s.planned || m.Header.Get("Status") == statusNone
	case strings.HasPrefix(m.Subject, subjectPlan):
		s.planned = true
		var whole []byte
		if whole, err = s.parts.add(m, maxPlanPacked); whole != nil {
			err = l.takePlan(ctx, h, whole)
		}
	case strings.HasPrefix(m.Subject, subjectFiled):
		err = l.takeFiled(ctx, h, m.Data)
	case strings.HasPrefix(m.Subject, subjectOrder):
		var answer orderAnswer
		answer, err = l.takeOrder(ctx, h, m.Data)
		defer l.answer(m, answer) // after it is counted
	}
	switch {
	case errors.Is(err, errForged), errors.Is(err, errReplayed):
		l.refused.log(l.log, "refused a message", "subject", m.Subject, "why", err)
	case err != nil && ctx.Err() == nil:
		l.log.Warn("message not taken", "subject", m.Subject, "error", err)
	}
}

func (l *NATSLink) takePlan(ctx context.Context, h Handler, data []byte) error {
	var p Plan
	if err := l.unseal(kindPlan, data, &p); err != nil {
		return err
	}
	if p.Host != l.config.Credentials.Host {
		return errForged
	}
	if p.Number < l.newest {
		return errReplayed
	}
	if err := h.Plan(ctx, p); err != nil {
		return err
	}
	l.newest = p.Number // only now: what the Handler could not keep may come again
	return nil
}

func (l *NATSLink) takeFiled(ctx context.Context, h Handler, data []byte) error {
	var ids []string
	if err := l.unseal(kindFiled, data, &ids); err != nil {
		return err
	}
	return h.Filed(ctx, ids)
}

// takeOrder returns what to answer, and an error if the order was not the controller's, or old.
func (l *NATSLink) takeOrder(ctx context.Context, h Handler, data []byte) (orderAnswer, error) {
	var o orderMessage
	if err := l.unseal(kindOrder, data, &o); err != nil {
		return orderAnswer{Error: err.Error()}, err
	}
	switch err := l.nonces.take(o.Nonce, o.ID); {
	case errors.Is(err, errStale):
		return orderAnswer{Nonce: l.nonces.fresh()}, nil
	case err != nil:
		return orderAnswer{Error: err.Error()}, err
	}
	if err := h.Order(ctx, o.Order); err != nil {
		return orderAnswer{Error: err.Error()}, nil // who gave the order is told, the log need not be
	}
	return orderAnswer{}, nil
}

func (l *NATSLink) answer(m *nats.Msg, a orderAnswer) {
	data, err := json.Marshal(a)
	if err == nil {
		err = m.Respond(data)
	}
	if err != nil {
		l.log.Warn("answer an order", "error", err)
	}
}

func (l *NATSLink) unseal(kind string, data []byte, v any) error {
	body, err := l.opener.open(kind, data)
	if err != nil {
		return err
	}
	return l.packer.unpack(body, v, maxPlan)
}
