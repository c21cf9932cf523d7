package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// HubConfig says which server the controller speaks through. Exactly one of Server and Outside is set.
type HubConfig struct {
	Keys    *Keyring
	Server  *Server  // the one in this process
	Outside *Outside // a cluster that somebody else runs
	Log     *slog.Logger
}

// Validate checks what a user may have given.
func (c *HubConfig) Validate() error {
	if c.Keys == nil {
		return badInput("hub: no keyring")
	}
	if (c.Server == nil) == (c.Outside == nil) {
		return badInput("hub: name the embedded server or an outside cluster, one of them")
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
	js      jetstream.JetStream
	outside *Outside // nil: embedded
	poison  tally

	mu     sync.Mutex
	plans  map[string]keptPlan // the last one of each host
	nonces map[string]string   // the last one that each host named
}

type keptPlan struct {
	number uint64
	sealed []byte
	sent   time.Time
}

const (
	// callTime is how long a call to the server may take.
	callTime = 10 * time.Second
	// hubWait is the longest wait between attempts to reach the server: there is one controller, and all wait for it.
	hubWait = time.Second
)

// OpenHub connects and makes the streams where they are missing. It fails if the server cannot be reached now; later it
// connects again by itself. Close ends it.
func OpenHub(ctx context.Context, c HubConfig) (*NATSHub, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p, err := newPacker()
	if err != nil {
		return nil, err
	}
	h := &NATSHub{keys: c.Keys, log: logger(c.Log), packer: p, outside: c.Outside,
		plans: map[string]keptPlan{}, nonces: map[string]string{}}
	if err := h.connect(ctx, c); err != nil {
		return nil, fmt.Errorf("connect to message server: %w", err)
	}
	if err := h.ensure(ctx); err != nil {
		h.Close()
		return nil, err
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
	if h.nc, err = nats.Connect(at, options...); err != nil {
		return err
	}
	h.js, err = jetstream.New(h.nc, jetstream.WithDefaultTimeout(callTime))
	return err
}

// Close ends the connection.
func (h *NATSHub) Close() { h.nc.Close() }

// Poison is how many messages of agents were none.
func (h *NATSHub) Poison() uint64 { return h.poison.n.Load() }

// Serve implements Hub. It calls r.File for several hosts at once, for one host one at a time, and r.Heard one at a time.
func (h *NATSHub) Serve(ctx context.Context, r Receiver) error {
	heard := make(chan *nats.Msg, incoming)
	sub, err := h.nc.ChanSubscribe(subjectStatus+"*", heard)
	if err != nil {
		return fmt.Errorf("listen for status: %w", err)
	}
	defer sub.Unsubscribe()
	filing := make(chan error, 1)
	filingCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { filing <- h.file(filingCtx, r) }()
	for {
		select {
		case m := <-heard:
			h.hear(r, m)
		case err := <-filing:
			return err
		}
	}
}

// Plan implements Hub. A plan that could not be published is kept, and goes out when its host is heard without it.
func (h *NATSHub) Plan(ctx context.Context, p Plan) error {
	to, err := h.keys.Agent(p.Host)
	if err != nil {
		return fmt.Errorf("give plan to %s: %w", p.Host, err)
	}
	sealed, err := h.seal(kindPlan, p.Host, to, p)
	if err != nil {
		return fmt.Errorf("give plan to %s: %w", p.Host, err)
	}
	if most := h.nc.MaxPayload(); int64(len(sealed))+pieceMargin > most {
		return fmt.Errorf("give plan to %s: it is %d bytes long, packed, and the message server takes %d: plan fewer hours at once",
			p.Host, len(sealed), most)
	}
	h.mu.Lock()
	h.plans[p.Host] = keptPlan{p.Number, sealed, time.Now()}
	h.mu.Unlock()
	return h.publishPlan(ctx, p.Host, sealed)
}

// pieceMargin is room for the subject and headers of a message.
const pieceMargin = 4 << 10

func (h *NATSHub) publishPlan(ctx context.Context, host string, sealed []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if _, err := h.js.Publish(ctx, subjectPlan+token(host), sealed, jetstream.WithExpectStream(streamPlans)); err != nil {
		return fmt.Errorf("give plan to %s: %w", host, err)
	}
	return nil
}

func (h *NATSHub) seal(kind, host string, to AgentKeys, v any) ([]byte, error) {
	body, err := h.packer.pack(v)
	if err != nil {
		return nil, err
	}
	return h.keys.seal(kind, host, to, body)
}
