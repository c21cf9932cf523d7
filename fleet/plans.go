package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// keptPlan is the last plan of a host, sealed. Whoever asks for it, or reports an older one, gets it again.
type keptPlan struct {
	number      uint64
	sealed      []byte
	sent, asked time.Time
}

// askedTooSoon keeps a host that asks without end from having its plan sent without end.
const askedTooSoon = 100 * time.Millisecond

// Plan implements Hub. A plan that could not be published is kept, and goes out when its host is heard without it.
func (h *NATSHub) Plan(_ context.Context, p Plan) error {
	to, err := h.keys.Agent(p.Host)
	if err != nil {
		return fmt.Errorf("give plan to %s: %w", p.Host, err)
	}
	sealed, err := h.seal(kindPlan, p.Host, to, p)
	if err != nil {
		return fmt.Errorf("give plan to %s: %w", p.Host, err)
	}
	if len(sealed) > maxPlanPacked {
		return fmt.Errorf("give plan to %s: it is %d bytes long, packed, and a host takes %d: plan fewer hours at once",
			p.Host, len(sealed), maxPlanPacked)
	}
	h.mu.Lock()
	h.plans[p.Host] = keptPlan{number: p.Number, sealed: sealed, sent: time.Now()}
	h.mu.Unlock()
	return h.publishPlan(p.Host, sealed)
}

// publishPlan sends all pieces of a plan, with nothing of another plan between them.
func (h *NATSHub) publishPlan(host string, sealed []byte) error {
	h.sending.Lock()
	defer h.sending.Unlock()
	for _, m := range messages(subjectPlan+token(host), sealed) {
		if err := h.nc.PublishMsg(m); err != nil {
			return notSent("give plan to "+host, err)
		}
	}
	return nil
}

// asked answers a host that asks for its last plan, on the host's own subjects whatever reply the message names.
func (h *NATSHub) asked(m *nats.Msg) {
	host := hostOf(m.Subject, subjectAsk)
	h.mu.Lock()
	plan, known := h.plans[host]
	soon := time.Since(plan.asked) < askedTooSoon
	if known && !soon {
		plan.asked = time.Now()
		h.plans[host] = plan
	}
	h.mu.Unlock()
	var err error
	switch {
	case !known:
		err = h.nc.PublishMsg(&nats.Msg{Subject: planInbox(host), Header: nats.Header{"Status": {statusNone}}})
	case !soon:
		err = h.publishPlan(host, plan.sealed)
	}
	if err != nil {
		h.log.Warn("send the plan that a host asks for", "host", host, "error", err)
	}
}

// statusNone tells a host that there is no plan for it yet, in the words of HTTP as NATS has them.
const statusNone = "404"

// resendTo sends a host its plan again if it reports an older one for too long.
func (h *NATSHub) resendTo(host string, reported uint64) {
	h.mu.Lock()
	plan := h.plans[host]
	again := plan.number > reported && time.Since(plan.sent) > planPatience
	if again {
		plan.sent = time.Now()
		h.plans[host] = plan
	}
	h.mu.Unlock()
	if !again {
		return
	}
	h.log.Info("sending a plan again", "host", host, "plan", plan.number)
	if err := h.publishPlan(host, plan.sealed); err != nil {
		h.log.Warn("send a plan again", "host", host, "error", err)
	}
}

// planPatience is how long a host may report an older plan before the newer one is sent to it again: three reports.
const planPatience = 3 * StatusEvery
