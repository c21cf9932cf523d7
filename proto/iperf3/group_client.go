package iperf3

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// GroupClient sends to the multicast group of its Config, of which servers are the receivers.
type GroupClient struct {
	Addrs  []string    // host:port of each; the port may be left out
	Family sock.Family // zero: that of the group
	Config Config
}

// Received is what came of a test of a group at one receiver.
type Received struct {
	Addr   string
	Report *Report // never nil; what this end counted is the same in all
	Err    error   // nil: the receiver told what it counted
}

// Run does one test. A receiver that does not take part from the start is an error of the whole; one that goes away later has an error of its own, and
// the others go on. Errors are those of Client.Run.
func (c *GroupClient) Run(ctx context.Context) ([]Received, error) {
	g := &groupRun{}
	for _, addr := range c.Addrs {
		r := &receiver{clientRun: &clientRun{config: c.Config.withDefaults(), report: &Report{Config: c.Config.withDefaults()}, at: addr}, heard: make(chan event, 1)}
		r.report.Config.Cookie, r.report.Config.Auth = "", nil
		g.runs = append(g.runs, r)
	}
	err := c.check()
	if err == nil {
		err = g.do(ctx, c)
	}
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	all := make([]Received, len(g.runs))
	for i, r := range g.runs {
		all[i] = Received{Addr: r.at, Report: r.report, Err: explain(r.failure)}
	}
	if err != nil {
		return all, fmt.Errorf("test of the group %s: %w", c.Config.Group, explain(err))
	}
	return all, nil
}

func (c *GroupClient) check() error {
	if n := len(c.Addrs); n < 1 || n > groupReceivers {
		return badConfig("receivers", n, fmt.Sprintf("must be 1 to %d", groupReceivers))
	}
	if c.Config.Group == "" {
		return badConfig("group", `""`, "give the address of a multicast group")
	}
	return c.Config.Validate()
}

// groupRun is one test of a group: a clientRun for each receiver, which share the transfer of the first.
type groupRun struct {
	runs []*receiver
	t    *transfer
	said chan *receiver // those of whom something was heard while data flowed
}

// receiver is the test with one of them.
type receiver struct {
	*clientRun
	heard   chan event // the next state of its control connection, or its end
	failure error
}

// lead is the run whose parameters hold for all.
func (g *groupRun) lead() *receiver { return g.runs[0] }

func (g *groupRun) do(ctx context.Context, c *GroupClient) (err error) {
	defer func() {
		for _, r := range g.runs {
			if r.ctl == nil {
				continue
			}
			if err != nil || r.failure != nil { // tell the server, if it still listens
				r.ctl.conn.SetWriteDeadline(time.Now().Add(goodbyeLimit))
				_ = WriteState(r.ctl.conn, ClientTerminate)
			}
			r.ctl.conn.Close()
		}
		if g.t != nil {
			g.t.closeStreams()
		}
	}()
	if c.Family == "" {
		c.Family = sock.IPv4
		if netip.MustParseAddr(c.Config.Group).Is6() { // it was checked
			c.Family = sock.IPv6
		}
	}
	ctx, fail := context.WithCancelCause(ctx) // the first failure ends what is done with the others
	defer fail(nil)
	if err := g.each(ctx, fail, func(r *receiver) error { return r.reach(ctx, c.Family) }); err != nil {
		return err
	}
	for _, r := range g.runs {
		defer r.ctl.watch()()
	}
	if err := g.agree(); err != nil {
		return err
	}
	if err := g.each(ctx, fail, func(r *receiver) error { return r.negotiate() }); err != nil {
		return err
	}
	g.t = g.lead().t
	if err := g.connect(ctx); err != nil {
		return err
	}
	for _, r := range g.runs {
		if err := r.ctl.expect(TestStart); err != nil {
			return fmt.Errorf("%s: %w", r.at, err)
		}
	}
	return g.test(ctx)
}

// test is the data phase, and the exchange of results with each receiver.
func (g *groupRun) test(ctx context.Context) error {
	t, lead := g.t, g.lead()
	g.said = make(chan *receiver, len(g.runs))
	for _, r := range g.runs {
		if err := r.ctl.expect(TestRunning); err != nil {
			return fmt.Errorf("%s: %w", r.at, err)
		}
		if err := r.ctl.disarm(); err != nil {
			return err
		}
		events := r.ctl.listen(func(State) {})
		go func() { // ends with the connection at the latest
			r.heard <- <-events
			g.said <- r
		}()
	}
	select {
	case <-time.After(groupSettle):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.begin(&monitor{interval: lead.config.Interval, omit: lead.config.Omit, onInterval: lead.config.OnInterval})
	err := g.send(ctx)
	t.stopSending()
	if err == nil {
		t.letArrive(ctx, lead.ctl.conn)
	}
	t.settle()
	var group sync.WaitGroup
	for _, r := range g.runs {
		r.report.fill(t)
		if err == nil && r.failure == nil {
			group.Go(func() { r.failure = r.finish(ctx) })
		}
	}
	group.Wait()
	if err == nil {
		err = g.allFailed()
	}
	return err
}

// send waits for the end of the data, by whatever limit comes first. Receivers that go away are let go.
func (g *groupRun) send(ctx context.Context) error {
	var timeUp <-chan time.Time
	if c := g.lead().config; c.Duration > 0 {
		timer := time.NewTimer(c.Duration + c.Omit)
		defer timer.Stop()
		timeUp = timer.C
	}
	for {
		select {
		case <-timeUp:
			return nil
		case <-g.t.sent:
			return nil
		case err := <-g.t.failed:
			return err
		case r := <-g.said:
			e := <-r.heard
			r.failure = e.unexpected()
			if err := g.allFailed(); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// allFailed is what went wrong where no receiver is left.
func (g *groupRun) allFailed() error {
	var all []error
	for _, r := range g.runs {
		if r.failure == nil {
			return nil
		}
		all = append(all, fmt.Errorf("%s: %w", r.at, r.failure))
	}
	return errors.Join(all...)
}

// finish tells one receiver that all was sent, and takes what it counted.
func (r *receiver) finish(ctx context.Context) error {
	if err := r.sendEnd(); err != nil {
		return err
	}
	select {
	case e := <-r.heard:
		if e.err != nil || e.state != ExchangeResults {
			return e.unexpected()
		}
	case <-time.After(r.config.Timeout):
		return ErrPeerSilent
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return r.exchange()
}
