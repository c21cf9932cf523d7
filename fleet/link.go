package fleet

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/pathwise-net/pathwise/input"
)

// LinkConfig says who an agent is and how it finds its controller.
type LinkConfig struct {
	Credentials *Credentials
	Dial        Dial             // nil: over the network to Credentials.URLs
	Once        bool             // Serve returns when the connection is lost: of a channel that cannot be dialled again
	PingEvery   time.Duration    // a peer that misses two is lost; 0: 10 s
	LongestWait time.Duration    // between attempts to connect; 0: 30 s, so that a controller that returns soon has all
	Now         func() time.Time // nil: time.Now
	Log         *slog.Logger     // nil: none
}

// Validate checks what a user may have given.
func (c *LinkConfig) Validate() error {
	if c.Credentials == nil {
		return input.Errorf("link: no credentials")
	}
	if err := c.Credentials.Validate(); err != nil {
		return err
	}
	if c.Dial == nil && len(c.Credentials.URLs) == 0 {
		return input.Errorf("credentials: urls: none; an agent that SSH does not start needs one, such as tls://HOST:4222")
	}
	_, err := c.Credentials.tlsConfig()
	return err
}

// NATSLink is the Link over NATS. It keeps nothing on disk.
//
// Whoever holds the server or another host's key can neither forge a plan or order nor repeat one. Across restarts of an
// agent, the number of the plan on its disk is what keeps an old plan from coming back: Handler.Plan must ignore one that is
// not newer.
type NATSLink struct {
	config  LinkConfig
	user    nkeys.KeyPair
	public  string
	opener  *opener
	packer  *packer
	nonces  *nonces
	log     *slog.Logger
	refused tally

	mu      sync.Mutex
	session *session   // nil: not connected
	sending sync.Mutex // pieces of one Result stay together
	newest  uint64     // number of the newest plan; Serve's alone
}

// NewLink makes a Link; nothing happens before Serve.
func NewLink(c LinkConfig) (*NATSLink, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.PingEvery = cmp.Or(c.PingEvery, 10*time.Second)
	c.LongestWait = cmp.Or(c.LongestWait, 30*time.Second)
	if c.Now == nil {
		c.Now = time.Now
	}
	l := &NATSLink{config: c, nonces: newNonces(c.Now), log: logger(c.Log).With("host", c.Credentials.Host)}
	var err error
	if l.user, err = fromSeed(nkeys.PrefixByteUser, c.Credentials.Login, &l.public); err != nil {
		return nil, err
	}
	if l.opener, err = newOpener(c.Credentials); err != nil {
		return nil, err
	}
	l.packer, err = newPacker()
	return l, err
}

// Refused is how many messages were not the controller's, or came a second time.
func (l *NATSLink) Refused() uint64 { return l.refused.n.Load() }

// refusals in a row of a key say that it is no mistake, such as of a server that is just starting.
const refusals = 3

// Serve implements Link.
func (l *NATSLink) Serve(ctx context.Context, h Handler) error {
	said := ""
	for attempt, refused := 1, 0; ; attempt++ {
		connected, err := l.connected(ctx, h)
		if ctx.Err() != nil {
			return nil
		}
		if connected {
			attempt, refused = 1, 0
		}
		if refusedKey(err) {
			if refused++; refused == refusals {
				return fmt.Errorf("connect as %s: %w (%v)", l.config.Credentials.Host, ErrKeyRefused, err)
			}
		}
		if l.config.Once {
			return fmt.Errorf("channel to the controller ended: %w", err)
		}
		if text := err.Error(); connected || text != said {
			l.log.Warn("no connection to the controller; trying again", "error", err)
			said = text
		}
		if !sleep(ctx, backoff(attempt, l.config.LongestWait, rand.Float64)) {
			return nil
		}
	}
}
