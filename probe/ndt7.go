package probe

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/ndt7"
	"github.com/pathwise-net/pathwise/sock"
)

// NDT7 tests with a server of ndt7, such as `pathwise respond` or one of Measurement Lab's, how fast data moves: one TCP connection from
// the target, and then one to it, each for up to ten seconds. The server's kernel tells what it saw in both.
//
// The throughput metric is goodput: of what goes to the target TCP's payload as the server's kernel counted it, of what comes the messages
// that came. With both ways it is of that to the target, and that from it is measure.ReverseThroughput; with one way it is of that way.
type NDT7 struct {
	Target     string
	Family     sock.Family   // zero: the first of the target's addresses that answers, as RFC 8305 orders
	Port       int           // 0: ndt7.DefaultPort
	Direction  string        // measure.Forward, measure.Reverse or measure.Both; "": both
	Duration   time.Duration // of each way; 0: 10 s, which is the most
	Congestion string        // control of both ends; "": bbr at a server that has it, and this host's own
	TLS        string        // "": off

	Secret     string                 // of a responder that was opened for this run
	OnInterval func(measure.Interval) // called for each second of each way, by the goroutine of Do; may be nil
}

// Values of NDT7.TLS.
const (
	tlsOff        = "off"
	tlsOn         = "on"         // and the server's certificate is one that this host trusts
	tlsUnverified = "unverified" // whatever its certificate: that tells what TLS costs, and not who answers
)

const (
	ndt7Longest  = 10 * time.Second // of a way, as the specification has it
	ndt7Shortest = 100 * time.Millisecond
	// ndt7Setup is what a way takes beside its data: four round trips of opening, and queues that drain.
	ndt7Setup = 2 * time.Second
)

func ndt7Kind() Kind {
	return newKind(declaration[NDT7]{
		kind: Kind{Name: "ndt7", Meaning: "how fast data moves over one connection, to any ndt7 server", Text: ndt7Text, Usage: Usage{
			Hosts: "HOST[:PORT]", Short: "How fast data moves from HOST and to it, as speed tests of browsers have it",
			Long: "Fetch data from HOST and send it there, over one TCP connection each, where `pathwise respond` or any server of ndt7 runs,\n" +
				"and report both rates and what the server's kernel saw. `pathwise respond` shows a page that does the same to browsers.",
			Examples: []string{"ndt7 carol", "ndt7 carol --direction reverse -t 5", "ndt7 carol:443 --tls on --json"},
		}},
		target: func(p *NDT7) *string { return &p.Target },
		fields: ndt7Fields(),
	})
}

func ndt7Fields() []field[NDT7] {
	return []field[NDT7]{
		{Name: "port", Short: "p", Outward: true, Default: "4443", Meaning: "the server's; a host of a mesh opens one of its own",
			binding: whole(func(p *NDT7) *int { return &p.Port }, 1, 65535)},
		{Name: "direction", Default: "both, the reverse first", Meaning: "forward: to the target; reverse: from it; both: one after the other",
			binding: word(func(p *NDT7) *string { return &p.Direction }, measure.Forward, measure.Reverse, string(measure.Both))},
		{Name: "duration", Flag: "time", Short: "t", Default: "10s", Meaning: "how long data is sent each way; servers of others take ten seconds",
			binding: span(func(p *NDT7) *time.Duration { return &p.Duration })},
		{Name: "cc", Default: "bbr at a server that has it, this host's own here", Meaning: "congestion control of both ends",
			binding: word(func(p *NDT7) *string { return &p.Congestion })},
		{Name: "tls", Default: tlsOff, Meaning: "on: wss, with a certificate that this host trusts; unverified: with any",
			binding: word(func(p *NDT7) *string { return &p.TLS }, tlsOff, tlsOn, tlsUnverified)},
		familyField(func(p *NDT7) *sock.Family { return &p.Family }),
	}
}

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p *NDT7) Validate() error {
	return cmp.Or(checkTarget(p.Target, p.Family), checkRange("port", p.Port, 0, 65535),
		checkDuration("duration", p.withDefaults().Duration, ndt7Shortest, ndt7Longest))
}

func (p NDT7) withDefaults() NDT7 {
	setDefault(&p.Port, ndt7.DefaultPort)
	setDefault(&p.Duration, ndt7Longest)
	setDefault(&p.Direction, string(measure.Both))
	setDefault(&p.TLS, tlsOff)
	return p
}

func (p *NDT7) equip(o Options) {
	p.OnInterval = watch(o.Interval, o.Say, IntervalLine)
	if r := o.Responder; r != nil && r.Kind == measure.ResponderNDT7 {
		p.Port, p.Secret = r.Port, r.Secret
	}
}

// tests are those that a run makes, in their order: that from the target first, as other clients have it.
func (p *NDT7) tests() []string {
	switch p.Direction {
	case measure.Forward:
		return []string{ndt7.Upload}
	case measure.Reverse:
		return []string{ndt7.Download}
	}
	return []string{ndt7.Download, ndt7.Upload}
}

// demand: how many bytes move nobody knows before, so that the path belongs to it alone.
func (p *NDT7) demand() measure.Demand {
	all := p.withDefaults()
	ways := len(all.tests())
	return measure.Demand{DurationSeconds: float64(ways) * (all.Duration + ndt7Setup).Seconds(), Exclusive: true,
		Responder: measure.ResponderNDT7, ResponderTests: ways}
}

// resultBytes are those of a throughput test that has the readings of one end, for each way: the server's are few.
func (p *NDT7) resultBytes() float64 {
	all := p.withDefaults()
	return float64(len(all.tests())) * (1150 + 1800*all.Duration.Seconds())
}

// Do makes the measurement.
func (p *NDT7) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "ndt7", p.Target, func(ctx context.Context, r *measure.Result) error {
		all := p.withDefaults()
		r.Way = measure.WayOf(r.Kind, map[string]any{"direction": all.Direction})
		if err := p.Validate(); err != nil {
			return err
		}
		r.Parameters = recorded(ndt7Fields(), &all)
		ends, err := all.ends(ctx)
		if err != nil {
			return err
		}
		for _, test := range all.tests() {
			client := all.client(test)
			report, err := client.Run(ctx, test, ends)
			fillNDT7(r, report)
			switch {
			case input.Bad(err) || err != nil && ctx.Err() != nil:
				return err
			case err != nil:
				return fmt.Errorf("%s port %d: %s: %w", all.Target, all.Port, test, err)
			}
		}
		return nil
	})
}

// client is what makes one test.
func (p *NDT7) client(test string) ndt7.Client {
	c := ndt7.Client{Host: p.Target, Port: p.Port, Secret: p.Secret, Congestion: p.Congestion}
	if p.Duration != ndt7Longest || p.Secret != "" {
		c.Duration = p.Duration // else servers of others are asked for nothing that they do not know
	}
	if p.TLS != tlsOff {
		c.TLS = &tls.Config{InsecureSkipVerify: p.TLS == tlsUnverified}
	}
	if p.OnInterval != nil {
		c.OnInterval = func(i ndt7.Interval) { p.OnInterval(ndt7Interval(test, i)) }
	}
	return c
}

// ends are the server's addresses.
func (p *NDT7) ends(ctx context.Context) ([]netip.AddrPort, error) {
	addresses, err := sock.Addresses(ctx, nil, p.Target, p.Family)
	ends := make([]netip.AddrPort, len(addresses))
	for i, a := range addresses {
		ends[i] = netip.AddrPortFrom(a, uint16(p.Port))
	}
	return ends, err
}
