package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pathwise-net/pathwise/measure"
)

const (
	// deliverTime is how long a message may take to the server and back.
	deliverTime = 15 * time.Second
	// maxOnTheWay messages of one call bear a long path, and bound what a lost connection makes come twice.
	maxOnTheWay = 32
	// neverStall turns off the client's own wait, which heeds no ctx.
	neverStall = 1 << 20
)

// Deliver implements Link. It returns when the server has the Results, or with ErrAway when it is not connected.
func (l *NATSLink) Deliver(ctx context.Context, results []*measure.Result) error {
	s := l.current()
	if s == nil {
		return fmt.Errorf("deliver results: %w", ErrAway)
	}
	batches, err := encode(results)
	if err != nil {
		return err
	}
	var sent []jetstream.PubAckFuture
	for _, b := range batches {
		if sent, err = l.send(ctx, s, l.packer.compress(b), sent); err != nil {
			return notSent("deliver results", err)
		}
	}
	for _, f := range sent {
		if err := s.taken(ctx, f); err != nil {
			return notSent("deliver results", err)
		}
	}
	return nil
}

// send publishes the pieces of one whole with nothing of this host between them, and adds them to those on their way.
func (l *NATSLink) send(ctx context.Context, s *session, whole []byte, sent []jetstream.PubAckFuture) ([]jetstream.PubAckFuture, error) {
	l.sending.Lock()
	defer l.sending.Unlock()
	for _, m := range messages(subjectResult+token(l.config.Credentials.Host), whole) {
		if len(sent) == maxOnTheWay {
			if err := s.taken(ctx, sent[0]); err != nil {
				return nil, err
			}
			sent = sent[1:]
		}
		f, err := s.js.PublishMsgAsync(m, jetstream.WithExpectStream(streamResults))
		if err != nil {
			return nil, err
		}
		sent = append(sent, f)
	}
	return sent, nil
}

// taken waits until the server has a message.
func (s *session) taken(ctx context.Context, f jetstream.PubAckFuture) error {
	select {
	case <-f.Ok():
		return nil
	case err := <-f.Err():
		return err
	case <-s.closed:
		return ErrAway
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Report implements Link. With each status goes what keeps orders fresh.
func (l *NATSLink) Report(_ context.Context, status Status) error {
	s := l.current()
	if s == nil {
		return fmt.Errorf("report: %w", ErrAway)
	}
	if status.Host != l.config.Credentials.Host {
		return fmt.Errorf("report: status is of host %q, this is %q", status.Host, l.config.Credentials.Host)
	}
	data, err := json.Marshal(status)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	err = s.nc.PublishMsg(&nats.Msg{Subject: subjectStatus + token(status.Host), Data: data,
		Header: nats.Header{headerNonce: {l.nonces.fresh()}}})
	if err != nil {
		return notSent("report", err)
	}
	return nil
}

// Live implements Link.
func (l *NATSLink) Live(_ context.Context, p Progress) error {
	s := l.current()
	if s == nil {
		return fmt.Errorf("show progress: %w", ErrAway)
	}
	packed, err := l.packer.pack(p)
	if err != nil {
		return fmt.Errorf("show progress of %s: %w", p.Run, err)
	}
	if len(packed) > maxResults {
		return errors.New("show progress: too long")
	}
	l.sending.Lock()
	defer l.sending.Unlock()
	for _, m := range messages(subjectLive+token(l.config.Credentials.Host)+"."+token(p.Run), packed) {
		if err := s.nc.PublishMsg(m); err != nil {
			return notSent("show progress", err)
		}
	}
	return nil
}

func (l *NATSLink) current() *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}
