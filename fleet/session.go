package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// session is one connection, from its beginning to its loss.
type session struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	msgs    chan *nats.Msg // all that comes, in order
	closed  chan struct{}
	planned bool   // a plan came, or there is none
	parts   pieces // of a plan
}

// askAgain is when the last plan is asked for again if nothing came: the controller may be just starting.
const askAgain = 10 * time.Second

// incoming is how many messages wait for the Handler before the client drops some. What is dropped comes again, but for
// orders, which then get no answer.
const incoming = 1000

// connected keeps one connection until it is lost or ctx ends. It says whether there was one at all.
func (l *NATSLink) connected(ctx context.Context, h Handler) (bool, error) {
	s, err := l.open(ctx)
	if err != nil {
		return false, err
	}
	defer s.nc.Close()
	l.mu.Lock()
	l.session = s
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.session = nil
		l.mu.Unlock()
	}()
	l.log.Info("connected to the controller")
	again := time.NewTicker(askAgain)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			if !s.planned {
				err = l.askPlan(s)
			}
			if err != nil {
				return true, err
			}
		case <-ctx.Done():
			return true, ctx.Err()
		case <-s.closed:
			if err := s.nc.LastError(); err != nil {
				return true, err
			}
			return true, errors.New("the server closed the connection")
		case m := <-s.msgs:
			l.take(ctx, h, s, m)
		}
	}
}

func (l *NATSLink) open(ctx context.Context) (*session, error) {
	c := l.config.Credentials
	s := &session{msgs: make(chan *nats.Msg, incoming), closed: make(chan struct{})}
	options := append(connection(ctx, c.Host, inbox+token(c.Host), l.config.Dial, l.log),
		withKey(l.user, l.public), nats.NoReconnect(), nats.PingInterval(l.config.PingEvery), nats.MaxPingsOutstanding(2),
		nats.ClosedHandler(func(*nats.Conn) { close(s.closed) }))
	t, err := c.tlsConfig()
	if err != nil {
		return nil, err
	}
	if t != nil {
		options = append(options, nats.Secure(t))
	}
	if s.nc, err = nats.Connect(urls(c.Reach), options...); err != nil {
		return nil, err
	}
	if err := l.subscribe(s); err != nil {
		s.nc.Close()
		return nil, err
	}
	return s, nil
}

func (l *NATSLink) subscribe(s *session) (err error) {
	h := token(l.config.Credentials.Host)
	for _, subject := range []string{subjectPlan + h, subjectOrder + h, subjectFiled + h, planInbox(l.config.Credentials.Host)} {
		if _, err = s.nc.ChanSubscribe(subject, s.msgs); err != nil {
			return fmt.Errorf("subscribe %s: %w", subject, err)
		}
	}
	if s.js, err = jetstream.New(s.nc, jetstream.WithPublishAsyncTimeout(deliverTime),
		jetstream.WithPublishAsyncMaxPending(neverStall)); err != nil {
		return err
	}
	return l.askPlan(s)
}

func planInbox(host string) string { return inbox + token(host) + ".plan" }

// askPlan asks for the last plan: the one that was given while this host was away.
func (l *NATSLink) askPlan(s *session) error {
	host := l.config.Credentials.Host
	if err := s.nc.PublishRequest(subjectAsk+token(host), planInbox(host), nil); err != nil {
		return fmt.Errorf("ask for the plan: %w", err)
	}
	return nil
}
