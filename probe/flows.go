package probe

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/flows"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/traffic"
)

// Flows sends flows of datagrams, as a script has them, to a Pathwise responder, which tells what came of each, and has it send those that the script
// has in reverse: for paths whose behaviour under voice, video, bursts or a replayed capture is to be seen, and not under one even stream.
type Flows struct {
	Target   string           // name or address; required
	Family   sock.Family      // zero: the first of the target's addresses that answers
	Port     int              // 0: that of the responder, 5214
	Script   string           // of package traffic; "": a call by G.711 of 10 s
	Reverse  bool             // each flow goes the other way
	Linger   time.Duration    // how long late packets are waited for; 0: 1 s
	Captures traffic.Captures // of a script that replays some; nil: none may

	Secret string // of a responder that was opened for this run
	// Progress is called each second with what arrived of each flow so far, of those of the script, by one goroutine; may be nil.
	Progress func(script *traffic.Script, soFar []flows.SoFar)
}

const (
	// flowsScript is a call: 160 bytes of speech each 20 ms, behind 12 of RTP.
	flowsScript = "flow voice end 10s constant rate 50/s size 172 dscp ef"
	flowsLinger = time.Second
	// flowsSetup is what a test takes beside its script: a control connection over four long round trips, and its account.
	flowsSetup = 2 * time.Second
)

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p Flows) Validate() error {
	all := p.withDefaults()
	if err := cmp.Or(
		checkTarget(p.Target, p.Family),
		checkRange("port", all.Port, 1, 65535),
		checkDuration("linger", all.Linger, time.Millisecond, time.Minute),
	); err != nil {
		return err
	}
	_, err := all.parse()
	return err
}

// parse reads the script, and turns it around where that was asked for.
func (p *Flows) parse() (*traffic.Script, error) {
	script, err := traffic.Parse(p.Script, p.Captures)
	if err == nil && p.Reverse {
		err = script.Turn()
	}
	return script, err
}

func (p Flows) withDefaults() Flows {
	setDefault(&p.Port, flows.DefaultPort)
	setDefault(&p.Script, flowsScript)
	setDefault(&p.Linger, flowsLinger)
	return p
}

// Do makes the measurement.
func (p *Flows) Do(ctx context.Context) (*measure.Result, error) {
	r, watch := newResult("flows", p.Target), startWatch()
	if err := p.Validate(); err != nil {
		r.Fail(err)
		return r, err
	}
	all := p.withDefaults()
	r.Parameters = recorded(flowsFields(), &all)
	err := all.do(ctx, r)
	if err != nil && !input.Bad(err) && ctx.Err() == nil {
		err = fmt.Errorf("%s port %d: %w", p.Target, all.Port, err)
	}
	watch.stop(r)
	r.Fail(err)
	return r, err
}

func (p *Flows) do(ctx context.Context, r *measure.Result) error {
	script, err := p.parse()
	if err != nil {
		return err
	}
	r.Way = wayOfFlows(script)
	terms, err := flows.TermsOf(script, p.Script, p.Reverse, p.Linger, flowsSetup)
	if err != nil {
		return err
	}
	addresses, err := sock.Addresses(ctx, nil, p.Target, p.Family)
	if err != nil {
		return err
	}
	ends := make([]netip.AddrPort, len(addresses))
	for i, a := range addresses {
		ends[i] = netip.AddrPortFrom(a, uint16(p.Port))
	}
	client := flows.Client{Secret: p.Secret, Terms: terms}
	if p.Progress != nil {
		client.OnSoFar = func(all []flows.SoFar) { p.Progress(script, all) }
	}
	test, err := client.Begin(ctx, ends)
	if err != nil {
		return err
	}
	defer test.Close()
	r.Source.Address, r.Target.Address = test.Local.Addr().String(), test.Remote.Addr().String()
	outcome, err := test.Run(ctx, script)
	reportFlows(r, script, int(test.Remote.Port()), outcome)
	return err
}

// wayOfFlows is the way that the flows of a script go.
func wayOfFlows(script *traffic.Script) measure.Way {
	switch {
	case !script.Goes(true):
		return measure.Forward
	case !script.Goes(false):
		return measure.Reverse
	}
	return measure.Both
}
