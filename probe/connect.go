package probe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/ndt7"
	"github.com/pathwise-net/pathwise/proto/reach"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/stat"
)

// Connect tries connections to a TCP port, one after another, and says why it answers or does not: see package connect. It sends nothing on them,
// and closes each. With CAP_NET_RAW it watches this host's interfaces meanwhile.
type Connect struct {
	Target  string        // name or address; required
	Family  sock.Family   // zero: the first of the target's addresses that can be reached
	Port    int           // 0: 443; with Back that of `pathwise respond`, 4443
	Count   int           // connections to try; 0: 3
	Timeout time.Duration // how long an answer may take; 0: 2 s, in which the kernel sends two SYNs

	// Back asks the `pathwise respond` that answers there whether fresh ports are reached over TCP and UDP, its ports from here and this host's from
	// there: see package reach.
	Back bool

	Far FarPort // watches at the far end; nil: nobody does
}

// FarPort begins to watch the far end of connections from an address to a port. What it returns ends that, and says what was seen, with a note for
// people of what was done there.
type FarPort func(ctx context.Context, to netip.AddrPort, from netip.Addr) (finish func() (far *measure.PortFar, note string, err error), err error)

const (
	connectPort    = 443
	connectCount   = 3
	connectMost    = 1000 // of which a Result keeps each, with its packets
	connectTimeout = 2 * time.Second
	connectGap     = 100 * time.Millisecond // from the end of a try to the next
	connectGreet   = 500 * time.Millisecond // beside two round trips: a server that speaks first does so by then
)

func connectKind() Kind {
	return newKind(declaration[Connect]{
		kind:   Kind{Name: "connect", Meaning: "whether a TCP port answers, and what is in the way if not", Text: connectText},
		target: func(p *Connect) *string { return &p.Target },
		fields: connectFields(),
	})
}

func connectFields() []field[Connect] {
	return []field[Connect]{
		{Name: "port", Outward: true, Default: "443", Meaning: "of the service",
			binding: whole(func(p *Connect) *int { return &p.Port }, 1, 65535)},
		{Name: "count", Default: "3", Meaning: "connections to try",
			binding: whole(func(p *Connect) *int { return &p.Count }, 1, connectMost)},
		{Name: "timeout", Default: "2s", Meaning: "how long an answer may take",
			binding: span(func(p *Connect) *time.Duration { return &p.Timeout })},
		{Name: "back", Default: "false", Meaning: "have `pathwise respond` there, at port 4443 if no other is said, try fresh ports of this host, and try those of its own",
			binding: yesOrNo(func(p *Connect) *bool { return &p.Back })},
		familyField(func(p *Connect) *sock.Family { return &p.Family }),
	}
}

func (p Connect) withDefaults() Connect {
	if p.Back {
		setDefault(&p.Port, ndt7.DefaultPort)
	}
	setDefault(&p.Port, connectPort)
	setDefault(&p.Count, connectCount)
	setDefault(&p.Timeout, connectTimeout)
	return p
}

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (p Connect) Validate() error {
	return cmp.Or(checkTarget(p.Target, p.Family), checkRange("port", p.Port, 0, 65535), checkRange("count", p.Count, 0, connectMost),
		checkDuration("timeout", p.Timeout, time.Millisecond, maxTimeout))
}

func (p *Connect) equip(o Options) { p.Far = o.FarPort }

// demand reckons with tries that nobody answers, and the longest wait for a server to speak.
func (p *Connect) demand() measure.Demand {
	all := p.withDefaults()
	each := 5 * wire(all.Target, all.Family, kernelSYN) // SYN, ACK and FIN ACK, or some SYNs
	d := measure.Demand{DurationSeconds: float64(all.Count)*(all.Timeout+connectGap).Seconds() + connectGreet.Seconds() + connectEchoes.Seconds(),
		Bytes: 2 * each * float64(all.Count), BitsPerSecond: 8 * each / connectGap.Seconds()}
	if all.Back {
		d.DurationSeconds += reach.Longest.Seconds()
		d.Bytes += 40 * each // two connections, twelve datagrams, and the messages about them
	}
	return d
}

// resultBytes are inferred from those of a ping: each connection has some packets.
func (p *Connect) resultBytes() float64 {
	bytes := 900 + 60*float64(p.withDefaults().Count)
	if p.Back {
		bytes += 1000 // of four ways
	}
	return bytes
}

// sleep waits, and reports false where ctx ended before.
func sleep(ctx context.Context, d time.Duration) bool {
	due := time.NewTimer(d)
	defer due.Stop()
	select {
	case <-due.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// reduceConnect turns tries into metrics. Without any there are none.
func reduceConnect(all []measure.PortAttempt, result *measure.Result) {
	if len(all) == 0 {
		return
	}
	open := 0
	var rtts []float64
	for _, a := range all {
		if a.Outcome == measure.PortOpen {
			open++
		}
		if a.RTTSeconds != nil {
			rtts = append(rtts, *a.RTTSeconds)
		}
	}
	m := result.Metrics
	m[measure.PortOpenRatio] = float64(open) / float64(len(all))
	if len(rtts) == 0 {
		return
	}
	s := stat.Summarize(rtts)
	m[measure.RTTMin], m[measure.RTTMean], m[measure.RTTMedian], m[measure.RTTMax] = s.Min, s.Mean, s.Median, s.Max
	result.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: distributionOf(rtts)}
}

// packetKind is the kind of a PortPacket; "" of a packet that is none.
func packetKind(t sock.Tapped) string {
	switch {
	case t.Error != nil:
		return string(t.Error.Reason())
	case t.Flags&sock.FlagRST != 0:
		return measure.PacketRST
	case t.Flags&(sock.FlagSYN|sock.FlagACK) == sock.FlagSYN|sock.FlagACK:
		return measure.PacketSYNACK
	case t.Flags&sock.FlagSYN != 0:
		return measure.PacketSYN
	}
	return ""
}

// bannerOf is what a server said, as far as it is printable: the first line, and no more than people read.
func bannerOf(said []byte) string {
	const most = 80
	line, _, _ := strings.Cut(string(said), "\n")
	line = strings.TrimSpace(line)
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '.'
		}
		return r
	}, line[:min(len(line), most)])
}

// connectText writes what people want to know of a port: a sentence, then what shows it, then what is not known.
func connectText(w io.Writer, r *measure.Result) {
	c := r.Samples.Port
	if c == nil {
		return
	}
	fmt.Fprintln(w, c.Says)
	for _, line := range c.Evidence {
		fmt.Fprintln(w, "  "+line)
	}
	if c.Unknown != "" {
		fmt.Fprintln(w, "not known: "+c.Unknown)
	}
	if r.Samples.Reach != nil {
		reachText(w, r)
	}
}

// called is what people call a port: by the name that was asked for, and its address.
func (p *Connect) called(to netip.AddrPort) string {
	if _, err := netip.ParseAddr(p.Target); err == nil {
		return to.String()
	}
	return fmt.Sprintf("%s (%s)", sock.JoinHostPort(p.Target, p.Port), to.Addr())
}
