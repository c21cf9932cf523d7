package flows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/traffic"
)

// hear takes what the far end tells, until the account has come.
func (t *Test) hear(ctx context.Context, script *traffic.Script, o *Outcome) error {
	terms := t.client.Terms
	mark := make([]byte, markBytes)
	read := func(n int) ([]byte, error) {
		b := make([]byte, n)
		if _, err := io.ReadFull(t.conn, b); err != nil {
			return nil, t.explain(ctx, err)
		}
		return b, nil
	}
	for opened := false; ; {
		_ = t.conn.SetReadDeadline(time.Now().Add(t.client.silence))
		if _, err := io.ReadFull(t.conn, mark); err != nil {
			return t.explain(ctx, err)
		}
		switch {
		case bytes.Equal(mark, soFarMark):
			b, err := read(soFarBytes * len(terms.Flows))
			if err != nil {
				return err
			}
			far, err := decodeSoFar(b)
			if err != nil {
				return err
			}
			o.SoFar = merged(script, far, t.near.soFar())
			if t.client.OnSoFar != nil {
				t.client.OnSoFar(o.SoFar)
			}
		case bytes.Equal(mark, openMark) && !opened && script.Goes(true):
			opened = true
			close(t.open)
		case bytes.Equal(mark, sentMark) && opened && o.Sent == nil:
			all := make([]Sent, len(terms.Flows))
			for i := range all {
				if !script.Flows[i].Reverse {
					continue
				}
				b, err := read(sentBytes + 4*terms.Intervals)
				if err == nil {
					all[i], err = decodeSent(b, terms.Flows[i].Packets)
				}
				if err != nil {
					return err
				}
			}
			o.Sent = all
			close(t.told)
		case bytes.Equal(mark, accountMark) && t.ended.Load():
			b, err := read(accountBytes(len(terms.Flows), terms.Intervals))
			if err != nil {
				return err
			}
			a, err := decodeAccount(b, terms.Intervals)
			if err == nil {
				o.Account = &a
			}
			return err
		default:
			return errForeign
		}
	}
}

// explain says of a far end that was silent for too long what that means.
func (t *Test) explain(ctx context.Context, err error) error {
	if err = endpoint.Explain(ctx, err); errors.Is(err, endpoint.ErrSilent) {
		return fmt.Errorf("the far end, or the path to it, is gone: nothing was heard of it for %v: %w", t.client.silence, err)
	}
	return err
}
