package probe

import (
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/transact"
	"github.com/pathwise-net/pathwise/sock"
)

func transactKind() Kind {
	return newKind(declaration[Transact]{
		kind: Kind{Name: "transact", Meaning: "requests and answers over TCP, to a Pathwise responder", Text: transactText, Usage: Usage{
			Hosts: "HOST[:PORT]", Short: "What a request and its answer take to and from HOST, and what the path alone would",
			Long: "Send requests over TCP to HOST, where `pathwise respond` runs, and wait for each answer, as programs do that talk in turns.\n" +
				"Report what a transaction takes, what its round trips alone would, and what the far end saw of the requests.",
			Examples: []string{"transact carol", "transact carol --writes 2 -c 20", "transact carol --new --turns 9 --nodelay --json",
				"transact carol:443 --connect"},
			Doing: "asking", Detail: true,
		}},
		target: func(p *Transact) *string { return &p.Target },
		fields: transactFields(),
	})
}

func transactFields() []field[Transact] {
	return []field[Transact]{
		{Name: "port", Short: "p", Outward: true, Default: "5213", Meaning: "the responder's; a host of a mesh opens one of its own",
			binding: whole(func(p *Transact) *int { return &p.Port }, 1, 65535)},
		{Name: "count", Short: "c", Default: "10", Meaning: "transactions to make",
			binding: whole(func(p *Transact) *int { return &p.Count }, 1, transact.MostExchanges)},
		{Name: "interval", Short: "i", Default: "100ms", Meaning: "from one transaction to the next, if the one before is over",
			binding: span(func(p *Transact) *time.Duration { return &p.Interval })},
		{Name: "request", Default: "100", Meaning: "bytes of a request, 24 at least",
			binding: size(func(p *Transact) *int { return &p.Request })},
		{Name: "response", Default: "100", Meaning: "bytes of an answer",
			binding: size(func(p *Transact) *int { return &p.Response })},
		{Name: "writes", Default: "1", Meaning: "pieces in which a request is given to TCP, one at a time",
			binding: whole(func(p *Transact) *int { return &p.Writes }, 1, transact.MostBytes)},
		{Name: "turns", Default: "1", Meaning: "requests of a transaction, each after the answer to the one before",
			binding: whole(func(p *Transact) *int { return &p.Turns }, 1, transact.MostExchanges)},
		{Name: "nodelay", Default: "false", Meaning: "switch off Nagle's algorithm",
			binding: yesOrNo(func(p *Transact) *bool { return &p.NoDelay })},
		{Name: "quickack", Default: "as the far end's kernel does", Meaning: "the responder acknowledges parts of a request at once (yes), or late (no)",
			binding: word(func(p *Transact) *string { return &p.QuickAck }, "yes", "no")},
		{Name: "pad", Default: "false", Meaning: "make requests larger, so that each write fills whole segments",
			binding: ifYes(func(p *Transact) *bool { return &p.Pad })},
		{Name: "new", Default: "false", Meaning: "a connection for each transaction, and its opening in the time",
			binding: yesOrNo(func(p *Transact) *bool { return &p.New })},
		{Name: "connect", Outward: true, Default: "false", Meaning: "only open connections, at the port of any service: this needs no responder",
			binding: yesOrNo(func(p *Transact) *bool { return &p.Connect })},
		{Name: "tls", Outward: true, Default: "false", Meaning: "with connect: make the handshake of TLS, too, and count it",
			binding: ifYes(func(p *Transact) *bool { return &p.TLS })},
		{Name: "timeout", Short: "W", Default: "5s", Meaning: "how long a transaction may take",
			binding: span(func(p *Transact) *time.Duration { return &p.Timeout })},
		{Name: "rate", Default: "the bytes take no time", Meaning: "of payload that the path carries, for the time that it alone would take",
			binding: rate(func(p *Transact) *int64 { return &p.Rate })},
		familyField(func(p *Transact) *sock.Family { return &p.Family }),
	}
}

// What a handshake of TLS moves, in bytes with all headers: a hello and a finish there, and a chain of three certificates back.
const (
	tlsAhead = 1_000.0
	tlsBack  = 6_000.0
)

func (p *Transact) equip(o Options) {
	p.Progress = watch(nil, o.Say, TransactionLine)
	if r := o.Responder; r != nil && r.Kind == measure.ResponderTransact {
		p.Port, p.Secret = r.Port, r.Secret
	}
}

// bound sets when the last transaction begins at the latest: where each waits for something, later than it was planned.
func (p *Transact) bound() {
	all := p.withDefaults()
	p.Deadline = time.Duration(all.Count-1)*all.Interval + all.Timeout
}

func (p *Transact) demand() measure.Demand {
	all := p.withDefaults()
	all.bound()
	turns := float64(all.Turns)
	ahead, back := turns*all.onLink(float64(all.Request)), turns*all.onLink(float64(all.Response))
	if all.New { // SYN, ACK, FIN, ACK, and what answers them
		const tcpACK = model.TCPHeader + model.TCPTimestamps
		ahead += wire(p.Target, p.Family, kernelSYN) + 3*wire(p.Target, p.Family, tcpACK)
		back += wire(p.Target, p.Family, kernelSYN) + 2*wire(p.Target, p.Family, tcpACK)
	}
	responder := measure.ResponderTransact
	if all.Connect {
		ahead, back, responder = wire(p.Target, p.Family, kernelSYN)*3, wire(p.Target, p.Family, kernelSYN)*3, ""
	}
	if all.TLS {
		ahead, back = ahead+tlsAhead, back+tlsBack
	}
	most := 8 * max(ahead, back) / all.Interval.Seconds()
	return measure.Demand{DurationSeconds: (all.Deadline + all.Timeout + transactSetup).Seconds(), Bytes: (ahead + back) * float64(all.Count),
		BitsPerSecond: most, Exclusive: most > LightRate, Responder: responder}
}

// resultBytes are inferred from those of a ping: two distributions, and four times each.
func (p *Transact) resultBytes() float64 { return 950 + 40*float64(p.withDefaults().Count) }

// onLink is how many bytes of a link's time a message takes in its own direction, each piece in a packet of its own, and the
// acknowledgements of the other way's.
func (p *Transact) onLink(bytes float64) float64 {
	const headers = model.TCPHeader + model.TCPTimestamps
	pieces := float64(p.Writes)
	return pieces*wire(p.Target, p.Family, headers+bytes/pieces) + pieces*wire(p.Target, p.Family, headers)
}
