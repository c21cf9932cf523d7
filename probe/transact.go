package probe

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/transact"
	"github.com/pathwise-net/pathwise/sock"
)

// Transact makes transactions with a Pathwise responder: a request over TCP, and its answer. It shows what programs suffer that talk in
// turns, of which bulk transfers and pings show nothing: pieces that wait for acknowledgements, packets whose loss a timer has to find,
// connections that open late, and those that the path forgets while they are idle.
//
// With Connect it only opens connections, to a port where anybody listens, and closes them: that takes no responder.
//
// The time of a transaction is from its first write, or, with New, from asking for its connection, to the last byte of its last answer,
// as this process sees it. One that is not over within Timeout has failed, and the next gets another connection.
type Transact struct {
	Target   string        // name or address; required
	Family   sock.Family   // zero: the first of the target's addresses that answers
	Port     int           // 0: that of the responder, 5213
	Count    int           // transactions; 0: 10
	Interval time.Duration // from the beginning of one to that of the next, or more; 0: 100 ms; at least 1 ms
	Request  int           // bytes; 0: 100; at least 24, which say what is asked for
	Response int           // bytes; 0: 100
	Writes   int           // a request is given to TCP in so many pieces; 0: 1
	Turns    int           // requests of a transaction, each after the answer to the one before; 0: 1
	NoDelay  bool          // switch Nagle's algorithm off (TCP_NODELAY)
	QuickAck string        // "yes": the responder acknowledges each part of a request at once; "no": it delays that; "": as its kernel does
	Pad      bool          // make requests as much larger as lets each write fill whole segments, by the MSS of the path
	New      bool          // a connection for each transaction
	Connect  bool          // only open connections, to Port, which any service may have
	TLS      bool          // make the handshake of TLS on each, too, and count it; with Connect
	Timeout  time.Duration // 0: 5 s; at most 60 s
	Rate     int64         // bit/s of payload that the path carries, if somebody knows: the ideal reckons with it
	Deadline time.Duration // no transaction begins later than this after the first; 0: no limit

	Secret   string                    // of a responder that was opened for this run
	Progress func(measure.Transaction) // called for each when its fate is known, by the goroutine of Do; may be nil
}

// Defaults and limits of Transact.
const (
	transactCount    = 10
	transactInterval = 100 * time.Millisecond
	transactBytes    = 100
	transactTimeout  = 5 * time.Second // twice what a lost SYN and the SYN sent in its place take, which are lost in turn
	// transactLongest is what a responder lets a test take if nothing else is said to it.
	transactLongest = 5 * time.Minute
	// transactSetup is what a test takes beside its transactions: its control connection over four long round trips.
	transactSetup = time.Second
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p Transact) Validate() error {
	all := p.withDefaults()
	if err := cmp.Or(
		checkTarget(p.Target, p.Family),
		checkRange("port", all.Port, 1, 65535),
		checkRange("count", all.Count, 1, transact.MostExchanges),
		checkDuration("interval", all.Interval, time.Millisecond, time.Hour),
		checkRange("request", all.Request, transact.RequestHeader, transact.MostBytes),
		checkRange("response", all.Response, 1, transact.MostBytes),
		checkRange("writes", all.Writes, 1, all.Request),
		checkRange("turns", all.Turns, 1, transact.MostExchanges/max(1, all.Count)),
		checkDuration("timeout", all.Timeout, time.Millisecond, maxTimeout),
	); err != nil {
		return err
	}
	if p.Connect && p.Port == 0 {
		return &input.Error{Field: "connect", Value: "true", Remedy: "give the port of a service, too"}
	}
	if p.TLS && !p.Connect {
		return &input.Error{Field: "tls", Value: "true", Remedy: "give connect, too: only the opening of connections has TLS"}
	}
	if _, known := quickAcks[p.QuickAck]; !known {
		return &input.Error{Field: "quickack", Value: p.QuickAck, Remedy: "give yes or no"}
	}
	if (p.New || p.Connect) && all.Interval < tcpMinInterval {
		return &input.Error{Field: "interval", Value: p.Interval.String(), Remedy: fmt.Sprintf(
			"each connection keeps a port for a minute; give at least %v", tcpMinInterval)}
	}
	return nil
}

// quickAcks are the values of QuickAck.
var quickAcks = map[string]transact.Acks{"": transact.AcksByKernel, "yes": transact.AcksAtOnce, "no": transact.AcksDelayed}

func (p Transact) withDefaults() Transact {
	setDefault(&p.Port, transact.DefaultPort)
	setDefault(&p.Count, transactCount)
	setDefault(&p.Interval, transactInterval)
	setDefault(&p.Request, transactBytes)
	setDefault(&p.Response, transactBytes)
	setDefault(&p.Writes, 1)
	setDefault(&p.Turns, 1)
	setDefault(&p.Timeout, transactTimeout)
	return p
}

// Do makes the measurement.
func (p *Transact) Do(ctx context.Context) (*measure.Result, error) {
	r, watch := newResult("transact", p.Target), startWatch()
	if err := p.Validate(); err != nil {
		r.Fail(err)
		return r, err
	}
	all := p.withDefaults()
	r.Parameters = recorded(transactFields(), &all)
	err := all.do(ctx, r)
	if err != nil && !input.Bad(err) && ctx.Err() == nil {
		err = fmt.Errorf("%s port %d: %w", p.Target, all.Port, err)
	}
	watch.stop(r)
	r.Fail(err)
	return r, err
}

// do agrees with the responder on a test, makes the transactions, and reports them.
func (p *Transact) do(ctx context.Context, r *measure.Result) error {
	ends, err := p.ends(ctx)
	if err != nil {
		return err
	}
	if p.Connect {
		return p.connect(ctx, r, ends)
	}
	client := transact.Client{Secret: p.Secret, Timeout: p.Timeout, NoDelay: p.NoDelay, Terms: transact.Terms{
		Exchanges: p.Count * p.Turns, Request: p.Request, Answer: p.Response, Longest: p.longest(), Acks: quickAcks[p.QuickAck]}}
	if p.Pad {
		client.Pad = p.Writes
	}
	test, err := client.Begin(ctx, ends)
	if err != nil {
		return err
	}
	defer test.Close()
	r.Source.Address, r.Target.Address = test.Local.Addr().String(), test.Remote.Addr().String()
	if p.Pad {
		p.Request = test.Terms.Request
		r.Parameters = recorded(transactFields(), p)
	}
	run := &transactRun{Transact: *p, open: test.Connect, started: time.Now()}
	err = run.do(ctx)
	run.report(r)
	if err != nil {
		return err
	}
	account, err := test.End()
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		return fmt.Errorf("get the far end's account of the test: %w", err)
	}
	addAccount(r, account)
	return nil
}

func (p *Transact) ends(ctx context.Context) ([]netip.AddrPort, error) {
	addresses, err := sock.Addresses(ctx, nil, p.Target, p.Family)
	if err != nil {
		return nil, err
	}
	ends := make([]netip.AddrPort, len(addresses))
	for i, a := range addresses {
		ends[i] = netip.AddrPortFrom(a, uint16(p.Port))
	}
	return ends, nil
}

// longest is how long the test may take. Where nothing bounds when the last transaction begins, each may take its timeout, but the
// responder is asked for no more than what it lets anybody have.
func (p *Transact) longest() time.Duration {
	if p.Deadline > 0 {
		return p.Deadline + p.Timeout + transactSetup
	}
	return min(transactLongest, time.Duration(p.Count)*(p.Interval+p.Timeout)+transactSetup)
}
