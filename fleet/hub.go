package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/pathwise-net/pathwise/input"
)

// HubConfig says which server the controller speaks through. Exactly one of Server and Outside is set.
type HubConfig struct {
	Keys    *Keyring
	Server  *Server  // the one in this process
	Outside *Outside // a cluster that somebody else runs
	Aside   string   // folder for Results over which filing panics; made when there is one; "": they are logged alone
	Log     *slog.Logger
}

// Validate checks what a user may have given.
func (c *HubConfig) Validate() error {
	if c.Keys == nil {
		return input.Errorf("hub: no keyring")
	}
	if (c.Server == nil) == (c.Outside == nil) {
		return input.Errorf("hub: name the embedded server or an outside cluster, one of them")
	}
	if c.Outside != nil {
		return c.Outside.Validate()
	}
	return nil
}

// NATSHub is the Hub over NATS.
type NATSHub struct {
	keys    *Keyring
	log     *slog.Logger
	packer  *packer
	nc      *nats.Conn
	poison  tally
	aside   aside
	sending sync.Mutex // pieces of one plan stay together

	mu     sync.Mutex
	plans  map[string]keptPlan // the last one of each host
	nonces map[string]string   // the last one that each host named
}

const (
	// callTime is how long a call to the server may take.
	callTime = 10 * time.Second
	// hubWait is the longest wait between attempts to reach the server: there is one controller, and all wait for it.
	hubWait = time.Second
)

// OpenHub connects. It fails if the server cannot be reached now; later it connects again by itself. Close ends it.
func OpenHub(ctx context.Context, c HubConfig) (*NATSHub, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p, err := newPacker()
	if err != nil {
		return nil, err
	}
	h := &NATSHub{keys: c.Keys, log: logger(c.Log), packer: p, aside: aside{folder: c.Aside},
		plans: map[string]keptPlan{}, nonces: map[string]string{}}
	if err := h.connect(ctx, c); err != nil {
		return nil, fmt.Errorf("connect to message server: %w", err)
	}
	if c.Outside != nil {
		if err := h.removeStreams(ctx); err != nil {
			h.Close()
			return nil, err
		}
	}
	return h, nil
}

func (h *NATSHub) connect(ctx context.Context, c HubConfig) (err error) {
	at, dial, credentials := noServer, Dial(nil), []nats.Option{withKey(h.keys.login, h.keys.public.Login)}
	if c.Outside != nil {
		at = c.Outside.URL
		if credentials, err = c.Outside.options(h.keys); err != nil {
			return err
		}
	} else {
		dial = c.Server.Dial
	}
	// The dialer must outlive ctx: the hub connects again until Close.
	options := append(connection(context.WithoutCancel(ctx), "pathwise controller", inboxController, dial, h.log),
		append(credentials, nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
			nats.ReconnectWait(hubWait/2), nats.ReconnectJitter(hubWait/2, hubWait/2),
			nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
				if err != nil {
					h.log.Warn("lost the message server; connecting again", "error", err)
				}
			}),
			nats.ReconnectHandler(func(*nats.Conn) { h.log.Info("connected to the message server again") }))...)
	h.nc, err = nats.Connect(at, options...)
	return err
}

// Close ends the connection.
func (h *NATSHub) Close() { h.nc.Close() }

// Poison is how many messages of agents were none.
func (h *NATSHub) Poison() uint64 { return h.poison.n.Load() }

// Serve implements Hub. It calls r.File for several hosts at once, for one host one at a time, and r.Heard one at a time.
func (h *NATSHub) Serve(ctx context.Context, r Receiver) error {
	statuses, filing := newHeard(), newFiling(h, r)
	defer filing.end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for subject, take := range map[string]nats.MsgHandler{
		subjectStatus: func(m *nats.Msg) {
			if m.Size() > maxStatus {
				h.drop(hostOf(m.Subject, subjectStatus), "no status", errTooLong)
				return
			}
			statuses.put(m)
		},
		subjectAsk:    h.asked,
		subjectResult: func(m *nats.Msg) { filing.take(ctx, m) },
	} {
		sub, err := h.nc.Subscribe(subject+"*", take)
		if err == nil {
			defer sub.Unsubscribe()
			err = sub.SetPendingLimits(pendingMessages, pendingBytes)
		}
		if err != nil {
			return fmt.Errorf("listen for %s*: %w", subject, err)
		}
	}
	for {
		if host, m := statuses.next(); m != nil {
			h.hear(r, host, m)
			continue
		}
		select {
		case <-statuses.bell:
		case <-ctx.Done():
			return nil
		}
	}
}

const (
	// What may wait between the client and what takes it, which is quick: it sorts. What is beyond is dropped, and comes again.
	pendingMessages = 1 << 16
	pendingBytes    = 64 << 20
)

func (h *NATSHub) seal(kind, host string, to AgentKeys, v any) ([]byte, error) {
	body, err := h.packer.pack(v)
	if err != nil {
		return nil, err
	}
	return h.keys.seal(kind, host, to, body)
}
