package probe

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/transact"
	"github.com/pathwise-net/pathwise/sock"
)

// transactRun is one test under way.
type transactRun struct {
	Transact
	open    func() (*transact.Connection, error) // one more connection
	started time.Time

	conn    *transact.Connection // that the next transaction is made on; nil: it needs one
	resent  uint64               // by this end on conn, so far
	minRTT  time.Duration        // of all connections; 0: not known
	mss     uint64
	opened  []float64 // seconds that connections took to open
	secured []float64 // seconds that handshakes of TLS took
	tlsTrip int       // round trips of a handshake of TLS
	all     []measure.Transaction
	retrans uint64 // by this end, in all
}

// do makes all transactions. The error is that of ctx.
func (r *transactRun) do(ctx context.Context) error {
	defer r.drop()
	for i := range r.Count {
		due := r.started.Add(time.Duration(i) * r.Interval)
		select {
		case <-time.After(time.Until(due)):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		begins := time.Since(r.started)
		if r.Deadline > 0 && begins > r.Deadline {
			return nil
		}
		one := measure.Transaction{Seq: i + 1, StartSeconds: begins.Seconds()}
		err := r.transact(ctx, &one)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			one.Error = err.Error()
		}
		if r.New || r.Connect || err != nil {
			r.drop()
		}
		r.all = append(r.all, one)
		if r.Progress != nil {
			r.Progress(one)
		}
	}
	return nil
}

// transact makes one transaction, and fills in its times.
func (r *transactRun) transact(ctx context.Context, one *measure.Transaction) error {
	began := time.Now()
	if r.conn == nil {
		conn, err := r.open()
		if err != nil {
			return fmt.Errorf("connect: %w", err)
		}
		r.conn, r.resent = conn, 0
		r.opened = append(r.opened, conn.Opened.Seconds())
		if r.New || r.Connect {
			one.ConnectSeconds = new(conn.Opened.Seconds())
		} else {
			began = time.Now() // the connection is none of the transaction's
		}
	}
	var err error
	if r.Connect {
		one.Seconds = one.ConnectSeconds
		if r.TLS {
			err = r.secure(ctx, one)
		}
	} else {
		err = r.turns(one, began)
	}
	if info, failed := r.conn.Info(); failed == nil {
		one.Retransmits = int64(info.TotalRetrans - r.resent)
		r.retrans += info.TotalRetrans - r.resent
		r.resent = info.TotalRetrans
		if info.Has(sock.FieldMinRTT) && (r.minRTT == 0 || info.MinRTT < r.minRTT) {
			r.minRTT = info.MinRTT
		}
		r.mss = info.SndMSS
	}
	return err
}

// secure adds the handshake of TLS to a connection.
func (r *transactRun) secure(ctx context.Context, one *measure.Transaction) error {
	one.Seconds = nil
	trips, err := r.conn.Secure(ctx, r.Target, r.Timeout)
	if err != nil {
		return err
	}
	r.tlsTrip = max(r.tlsTrip, trips)
	r.secured = append(r.secured, r.conn.Secured.Seconds())
	one.Seconds = new((r.conn.Opened + r.conn.Secured).Seconds())
	return nil
}

func (r *transactRun) turns(one *measure.Transaction, began time.Time) error {
	until := began.Add(r.Timeout)
	for turn := range r.Turns {
		before := time.Since(began)
		times, err := r.conn.Exchange(r.Writes, until)
		if err != nil {
			return err
		}
		if turn == 0 {
			one.WrittenSeconds, one.FirstByteSeconds = new((before + times.Written).Seconds()), new((before + times.FirstByte).Seconds())
		}
	}
	one.Seconds = new(time.Since(began).Seconds())
	return nil
}

// drop closes the connection, if there is one.
func (r *transactRun) drop() {
	if r.conn != nil {
		r.conn.Close()
		r.conn = nil
	}
}

// connect opens connections to a service and closes them, at the first of its addresses that answers.
func (p *Transact) connect(ctx context.Context, r *measure.Result, ends []netip.AddrPort) error {
	run := &transactRun{Transact: *p, started: time.Now()}
	run.open = func() (*transact.Connection, error) {
		c, err := transact.Open(ctx, ends, p.Timeout)
		if err == nil {
			ends = []netip.AddrPort{c.Remote}
			r.Source.Address, r.Target.Address = c.Local.Addr().String(), c.Remote.Addr().String()
		}
		return c, err
	}
	err := run.do(ctx)
	run.report(r)
	return err
}
