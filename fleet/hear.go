package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go"
)

// maxStatus in bytes is above what an agent sends with a thousand runs under way. What is longer is dropped unread.
const maxStatus = 256 << 10

// heard is the last status of each host that nobody has read yet: a host that sends without end replaces its own and no
// other's.
type heard struct {
	mu    sync.Mutex
	last  map[string]*nats.Msg
	order []string // hosts, longest waiting first
	bell  chan struct{}
}

func newHeard() *heard { return &heard{last: map[string]*nats.Msg{}, bell: make(chan struct{}, 1)} }

func (q *heard) put(m *nats.Msg) {
	host := hostOf(m.Subject, subjectStatus)
	q.mu.Lock()
	if q.last[host] == nil {
		q.order = append(q.order, host)
	}
	q.last[host] = m
	q.mu.Unlock()
	select {
	case q.bell <- struct{}{}:
	default:
	}
}

// next returns nil when all are read.
func (q *heard) next() (host string, m *nats.Msg) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		return "", nil
	}
	host, q.order = q.order[0], q.order[1:]
	m = q.last[host]
	delete(q.last, host)
	return host, m
}

// hear takes one status. It remembers the nonce in it, and sends a plan again that the host should have by now.
func (h *NATSHub) hear(r Receiver, host string, m *nats.Msg) {
	var s Status
	err := json.Unmarshal(m.Data, &s)
	if err == nil && s.Host != host {
		err = fmt.Errorf("it says that it is of %q", s.Host)
	}
	if err != nil {
		h.drop(host, "no status", err)
		return
	}
	h.mu.Lock()
	h.nonces[host] = m.Header.Get(headerNonce)
	h.mu.Unlock()
	h.resendTo(host, s.Plan)
	r.Heard(s)
}

var errTooLong = errors.New("it is too long")

// drop counts a message that is not what its host may send.
func (h *NATSHub) drop(host, what string, why error) {
	h.poison.log(h.log, "dropped a message that is "+what, "from", host, "error", why)
}
