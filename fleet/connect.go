package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// Dial opens a connection to a NATS server: over the network, inside this process (Server.Dial), or through a channel.
type Dial func(ctx context.Context) (net.Conn, error)

// dialer lets the NATS client use a Dial, and gives up when ctx ends instead of when its time is up.
type dialer struct {
	ctx  context.Context
	dial Dial // nil: over the network, to the address that the client asks for
}

func (d dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(d.ctx, handshakeTime)
	defer cancel()
	if d.dial != nil {
		return d.dial(ctx)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// noServer stands for an URL where a Dial finds the server.
const noServer = "nats://pathwise"

// connection are the settings that both ends share.
func connection(ctx context.Context, name, inboxPrefix string, dial Dial, log *slog.Logger) []nats.Option {
	return []nats.Option{
		nats.Name(name),
		nats.CustomInboxPrefix(inboxPrefix),
		nats.SetCustomDialer(dialer{ctx, dial}),
		nats.SkipHostLookup(), // the dialer looks up, and tries all that it finds
		nats.Timeout(handshakeTime),
		nats.FlusherTimeout(handshakeTime),
		nats.ReconnectBufSize(-1), // what cannot be sent now is an error now, not a surprise later
		nats.NoEcho(),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			log.Warn("message connection", "error", err, "subject", subject)
		}),
	}
}

// withKey logs in by an nkey: the server's challenge is signed, the seed stays here.
func withKey(pair nkeys.KeyPair, public string) nats.Option {
	return nats.Nkey(public, func(challenge []byte) ([]byte, error) { return pair.Sign(challenge) })
}

func urls(r Reach) string {
	if len(r.URLs) == 0 {
		return noServer
	}
	return strings.Join(r.URLs, ",")
}

// refusedKey says whether the server would not have this user, which trying again does not change.
func refusedKey(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) || errors.Is(err, nats.ErrAuthRevoked)
}

// notSent translates the errors of publishing that a caller branches on.
func notSent(what string, err error) error {
	for _, away := range []error{nats.ErrNoResponders, nats.ErrConnectionClosed, nats.ErrReconnectBufExceeded,
		nats.ErrDisconnected, nats.ErrConnectionReconnecting, jetstream.ErrNoStreamResponse} {
		if errors.Is(err, away) {
			return fmt.Errorf("%s: %w", what, ErrAway)
		}
	}
	var refused *jetstream.APIError
	if errors.As(err, &refused) && refused.ErrorCode == streamFull {
		return fmt.Errorf("%s: %w", what, ErrBehind)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// streamFull is the server's code for a stream that takes no more (JSStreamStoreFailedF); the library has no name for it.
const streamFull = 10077

// backoff is how long to wait before the nth attempt to connect, from 1: twice as long each time, and between half of
// that and all of it, so that a thousand agents do not come back in one moment.
func backoff(n int, longest time.Duration, random func() float64) time.Duration {
	d := min(time.Second<<min(n-1, 16), longest)
	return d/2 + time.Duration(random()*float64(d/2))
}

// sleep waits, and says whether ctx lasted.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
