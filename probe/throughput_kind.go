package probe

import (
	"cmp"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

func throughputKind() Kind {
	return newKind(declaration[Throughput]{
		kind: Kind{Name: "throughput", Meaning: "how fast data moves, to any iperf3 server", Text: throughputText, Usage: Usage{
			Hosts: "HOST[:PORT]", Short: "How fast data moves to HOST, and what holds it back",
			Long: "Move data to HOST, where `pathwise respond` or any iperf3 server runs, and report the goodput that the receiver\n" +
				"saw. With a Pathwise responder the result holds the kernel's TCP_INFO of both ends.",
			Examples: []string{"throughput carol", "throughput carol -R -t 5 --cc cubic", "throughput carol -n 50MB -P 4 --json"},
			Input:    true, Stream: true, Files: true,
		}},
		target: func(p *Throughput) *string { return &p.Target },
		fields: throughputFields(),
	})
}

func throughputFields() []field[Throughput] {
	return append([]field[Throughput]{
		{Name: "proto", Default: "tcp", Meaning: "tcp or udp",
			binding: word(func(p *Throughput) *string { return &p.Config.Proto }, iperf3.TCP, iperf3.UDP)},
		{Name: "port", Short: "p", Outward: true, Default: "5201", Meaning: "the responder's; a host of a mesh opens one of its own",
			binding: whole(func(p *Throughput) *int { return &p.Port }, 1, 65535)},
		{Name: "duration", Flag: "time", Short: "t", Default: "10s", Meaning: "how long data is sent",
			binding: span(func(p *Throughput) *time.Duration { return &p.Config.Duration })},
		{Name: "bytes", Short: "n", Default: "no limit", Meaning: "end after this much, if duration has not passed before",
			binding: size(func(p *Throughput) *int64 { return &p.Config.Bytes })},
		{Name: "blocks", Short: "k", Default: "no limit", Meaning: "end after so many writes or datagrams of the length, in place of bytes",
			binding: whole(func(p *Throughput) *int64 { return &p.Config.Blocks }, 1, mostBlocks)},
		{Name: "omit", Short: "O", Default: "none", Meaning: "leave out this much at the start, in whole seconds up to 60: what slow start takes",
			binding: span(func(p *Throughput) *time.Duration { return &p.Config.Omit })},
		narrowField(),
		{Name: "interval", Short: "i", Default: "1s", Meaning: "how often to report on the way",
			binding: span(func(p *Throughput) *time.Duration { return &p.Config.Interval })},
		{Name: "parallel", Short: "P", Default: "1", Meaning: "streams at once, in each direction",
			binding: whole(func(p *Throughput) *int { return &p.Config.Parallel }, 1, 128)},
		{Name: "reverse", Short: "R", Default: "false", Meaning: "the target sends",
			binding: yesOrNo(func(p *Throughput) *bool { return &p.Config.Reverse })},
		{Name: "bidir", Default: "false", Meaning: "both send at once",
			binding: yesOrNo(func(p *Throughput) *bool { return &p.Config.Bidir })},
		{Name: "rate", Default: "none for tcp, 1mbit for udp", Meaning: "of each stream, held by the sending program",
			binding: rate(func(p *Throughput) *int64 { return &p.Config.Rate })},
		searchField(),
		{Name: "reverse-rate", Default: "that of rate", Meaning: "of bidir: of each stream that the target sends; it has to be Pathwise",
			binding: rate(func(p *Throughput) *int64 { return &p.Config.ReverseRate })},
		{Name: "burst", Default: "those that are due", Meaning: "writes or datagrams that leave together at the rate",
			binding: whole(func(p *Throughput) *int { return &p.Config.Burst }, 1, 1000)},
		{Name: "fq-rate", Default: "no limit", Meaning: "of each stream, held by the sending kernel; of udp only where its interface has the fq queueing discipline",
			binding: rate(func(p *Throughput) *int64 { return &p.Config.FQRate })},
		{Name: "cc", Default: "each host's own", Meaning: "congestion control of both ends",
			binding: word(func(p *Throughput) *string { return &p.Config.Congestion })},
		{Name: "window", Short: "w", Default: "the kernel tunes them", Meaning: "socket buffers of both ends",
			binding: size(func(p *Throughput) *int { return &p.Config.Window })},
		{Name: "length", Flag: "len", Short: "l", Default: "128K, or what fits the path's MSS for udp",
			Meaning: "bytes of each write, or of each datagram",
			binding: size(func(p *Throughput) *int { return &p.Config.Length })},
		{Name: "offload", Default: "true", Meaning: "of udp: datagrams that are due together go to the kernel, and come from it, in one piece",
			binding: offloadField()},
		{Name: "event-loop", Default: "false", Meaning: "ask whether there is room before each write, as event-driven programs do",
			binding: yesOrNo(func(p *Throughput) *bool { return &p.Config.EventLoop })},
		{Name: "zerocopy", Short: "Z", Default: "false", Meaning: "of tcp: the kernel sends pages of a file in memory, uncopied",
			binding: ifYes(func(p *Throughput) *bool { return &p.Config.ZeroCopy })},
		{Name: "mptcp", Default: "false", Meaning: "of tcp: streams over several paths (RFC 8684), where both kernels have it and the target lets it in",
			binding: ifYes(func(p *Throughput) *bool { return &p.Config.MPTCP })},
		{Name: "get-server-output", Default: "false", Meaning: "ask the target for what it printed of the test",
			binding: ifYes(func(p *Throughput) *bool { return &p.Config.ServerOutput })},
		{Name: "mss", Default: "the kernel's", Meaning: "largest TCP segment in bytes, of the control connection as well",
			binding: whole(func(p *Throughput) *int { return &p.Config.MSS }, 88, 9*1024)},
		{Name: "nodelay", Default: "false", Meaning: "switch off Nagle's algorithm",
			binding: yesOrNo(func(p *Throughput) *bool { return &p.Config.NoDelay })},
		{Name: "dscp", Default: "0", Meaning: dscpMeaning,
			binding: codePoint(func(p *Throughput) *int { return &p.Config.DSCP })},
		{Name: "flow-label", Short: "L", Default: "the kernel's", Meaning: "of the packets of streams that this host sends over IPv6 (RFC 6437)",
			binding: whole(func(p *Throughput) *int { return &p.Config.FlowLabel }, 1, sock.MaxFlowLabel)},
		{Name: "username", Outward: true, Default: "none", Meaning: "of a target that wants to know who tests; the password is that of password-file, or in IPERF3_PASSWORD",
			binding: word(func(p *Throughput) *string { return &p.Login.Username })},
		{Name: "password-file", Outward: true, Default: "none", Meaning: "the file with the password",
			binding: word(func(p *Throughput) *string { return &p.Login.PasswordFile })},
		{Name: "rsa-public-key-path", Outward: true, Default: "none", Meaning: "the file with the target's RSA public key, in PEM, with which name and password are encrypted",
			binding: word(func(p *Throughput) *string { return &p.Login.KeyFile })},
		{Name: "use-pkcs1-padding", Outward: true, Default: "false", Meaning: "encrypt them as iperf3 before 3.17 wants it",
			binding: ifYes(func(p *Throughput) *bool { return &p.Login.PKCS1 })},
		familyField(func(p *Throughput) *sock.Family { return &p.Family }),
		pathRateField(), besideField(),
	}, append(sweepFields(), groupFields()...)...)
}

// mostBlocks is what iperf3's counters hold of blocks of any length.
const mostBlocks = 1 << 40

// defaultWrite are the bytes of a write, as iperf3 has it.
const defaultWrite = 128 << 10

// offloadField is a choice that holds unless it is set to false, and that a test by TCP has not.
func offloadField() binding[Throughput] {
	b := yesOrNo(func(p *Throughput) *bool { return &p.Config.NoOffload })
	return binding[Throughput]{Type: b.Type, set: func(p *Throughput, v any) string {
		want := b.set(p, v)
		p.Config.NoOffload = want == "" && !p.Config.NoOffload
		return want
	}, get: func(p *Throughput) any {
		if p.Config.Proto != iperf3.UDP {
			return nil
		}
		return !p.Config.NoOffload
	}}
}

func (p *Throughput) equip(o Options) {
	p.OnInterval, p.Config.Source = watch(o.Interval, o.Say, IntervalLine), o.Source
	p.OnTrial, p.OnRun = watch(o.Trial, o.Say, TrialLine), o.Say
	p.OnReading, p.Files, p.tripsKnown = o.Reading, o.Files, o.TripsKnown
	if r := iperf3Responder(o); r != nil {
		p.Port, p.Config.Cookie, p.reflector = r.Port, r.Secret, r.Port
		p.alone = !p.demand().Exclusive // what loads no path needs no packets beside it, of which its planner does not know
	}
}

// bound keeps a test that is to end after so many bytes from going on for ever where the path is slow.
func (p *Throughput) bound() {
	if p.Search == "" && p.Sweep.Over == "" && p.Files == (Files{}) {
		setDefault(&p.Config.Duration, transferFor)
	}
}

func (p *Throughput) demand() measure.Demand {
	c := &p.Config
	d := measure.Demand{DurationSeconds: (c.Duration + c.Omit + iperf3Setup).Seconds(), Responder: measure.ResponderIperf3}
	payload := float64(c.Rate * int64(max(1, c.Parallel))) // bit/s in a direction
	if c.Proto == iperf3.UDP && c.Rate == 0 {
		payload = LightRate * float64(max(1, c.Parallel))
	}
	if p.Search == SearchRFC9097 {
		d.DurationSeconds, d.Exclusive = (cmp.Or(c.Duration, transferFor) + iperf3Setup).Seconds(), true
		return d
	}
	if p.Search == SearchTrials { // all that the path carries, at the most
		each := c.Duration
		setDefault(&each, searchTrial)
		d.DurationSeconds, d.Exclusive, d.ResponderTests = searchMost*(each+c.Omit+iperf3Setup).Seconds(), true, searchMost
		return d
	}
	if p.Sweep.Over != "" {
		return p.sweepDemand(d)
	}
	d.Exclusive = payload == 0 || payload > LightRate
	ahead, back := p.overhead()
	d.BitsPerSecond = payload * ahead
	bytes := payload / 8 * (c.Duration + c.Omit).Seconds()
	if limit := float64(c.Bytes) + float64(c.Blocks)*p.blockBytes(); limit > 0 && (limit < bytes || payload == 0) {
		bytes = limit
	}
	if c.Bidir {
		other := payload
		if c.ReverseRate > 0 {
			other = float64(c.ReverseRate * int64(max(1, c.Parallel)))
			d.Exclusive = d.Exclusive || other > LightRate
		}
		both := bytes // of bytes asked for each way has as many
		if payload > 0 && bytes == payload/8*(c.Duration+c.Omit).Seconds() {
			both = other / 8 * (c.Duration + c.Omit).Seconds()
		}
		bytes += both
		d.BitsPerSecond = max(payload*ahead+other*back, other*ahead+payload*back)
	}
	d.Bytes = bytes * (ahead + back)
	if p.Beside != "" {
		return p.besideDemand(d)
	}
	return d
}

// blockBytes are those of a write or a datagram.
func (p *Throughput) blockBytes() float64 {
	if p.Config.Proto == iperf3.UDP {
		return cmp.Or(float64(p.Config.Length), defaultUDP)
	}
	return cmp.Or(float64(p.Config.Length), defaultWrite)
}

// resultBytes are those of some 20 metrics, and of what TCP_INFO of both ends takes, twenty times a second, of each stream.
func (p *Throughput) resultBytes() float64 {
	c := &p.Config
	if p.Sweep.Over != "" {
		return sweepBytes
	}
	if c.Proto == iperf3.UDP || p.Search != "" {
		return 1150
	}
	names, _ := readBeside(p.Beside)
	return 1150 + 150*float64(len(names)) + 3300*float64(max(1, c.Parallel))*(c.Duration+iperf3Setup).Seconds()
}

// overhead is how many bytes take a link's time for each byte of payload: in its own direction, and the other way.
func (p *Throughput) overhead() (ahead, back float64) {
	if c := &p.Config; c.Proto == iperf3.UDP {
		length := p.blockBytes()
		return wire(p.Target, p.Family, udpHeader+length) / length, 0
	}
	const headers = model.TCPHeader + model.TCPTimestamps
	segment := float64(mtu - model.IPv4Header - headers)
	if p.Config.MSS > 0 {
		segment = float64(p.Config.MSS - model.TCPTimestamps)
	}
	return wire(p.Target, p.Family, headers+segment) / segment, wire(p.Target, p.Family, headers) / (ackEvery * segment)
}

// iperf3Responder is the iperf3 server that was opened for a run, nil if none was.
func iperf3Responder(o Options) *measure.Responder {
	if o.Responder == nil || o.Responder.Kind != measure.ResponderIperf3 {
		return nil
	}
	return o.Responder
}
