package probe

import (
	"math"
	"net/netip"
	"os"
	"sort"
	"syscall"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Mark makes what a socket sends carry what the parameters say: TTL, DSCP, and not to be cut.
func (p Ping) Mark(conn syscall.RawConn) error { return p.mark(conn) }

// PingRecord gathers what became of requests to one of many targets, which another sends, and makes the Result of them that a Ping makes of
// its own. Requests are named by their sequence numbers, and are sent in that order.
type PingRecord struct {
	to    netip.Addr
	watch stopwatch
	run   pingRun
}

// NewPingRecord begins a record of what a ping by ICMP echo asks of a target at an address; the zero value: it has none. Socket is by what the
// requests go: "datagram" or "raw".
func NewPingRecord(p Ping, to netip.Addr, socket string) *PingRecord {
	p = p.withDefaults()
	p.Progress, p.Rand = nil, nil // which another has
	return &PingRecord{to, startWatch(), pingRun{Ping: p, sender: sentBy(socket), last: true, started: time.Now()}}
}

// Sent adds a request, which left at a time.
func (p *PingRecord) Sent(sequence int, at time.Time) {
	if len(p.run.echoes) == 0 {
		p.run.started = at
		p.run.echoes = make([]pingEcho, 0, p.run.Count)
	}
	p.run.echoes = append(p.run.echoes, pingEcho{sent: at, Echo: measure.Echo{Seq: sequence, SentSeconds: at.Sub(p.run.started).Seconds()}})
}

// Settled takes what became of a request. Of one that was answered before, an answer is a duplicate. Kernel says that the round trip is by the
// kernel's clock.
func (p *PingRecord) Settled(e measure.Echo, kernel bool) {
	i := sort.Search(len(p.run.echoes), func(i int) bool { return p.run.echoes[i].Seq >= e.Seq })
	if i == len(p.run.echoes) || p.run.echoes[i].Seq != e.Seq {
		return
	}
	from, _ := netip.ParseAddr(e.From) // "": the target itself, or nobody
	switch {
	case e.RTTSeconds != nil:
		rtt := time.Duration(math.Round(*e.RTTSeconds * float64(time.Second)))
		p.run.answer(pingAnswer{index: i, rtt: rtt, kernel: kernel, ttl: e.TTL, from: from})
	case e.Error != "":
		p.run.refuse(pingRefusal{index: i, from: from, why: e.Error})
	default:
		p.run.settle(&p.run.echoes[i])
	}
}

// Unsent takes the last request back: this host could not send it.
func (p *PingRecord) Unsent() { p.run.echoes = p.run.echoes[:len(p.run.echoes)-1] }

// Result is what was measured by a host whose clock is as given; failed is why that is not all.
func (p *PingRecord) Result(clock measure.Clock, failed error) *measure.Result {
	r := measure.NewResult("ping", p.run.started)
	r.Source.Name, _ = os.Hostname() // a host without a name still has its address
	r.Target.Name, r.Clock, r.Parameters = p.run.Target, clock, recorded(pingFields(), &p.run.Ping)
	if p.to.IsValid() {
		r.Target.Address = p.to.String()
		if from, err := sock.Source(p.to); err == nil {
			r.Source.Address = from.String()
		}
	}
	p.watch.stop(r)
	p.run.report(r)
	r.Fail(failed)
	return r
}

// sentBy is a pingSender of which nothing is asked but by what socket another sends.
type sentBy string

func (s sentBy) socket() string { return string(s) }

func (sentBy) send(int, int) (time.Time, error) { return time.Time{}, os.ErrInvalid }
func (sentBy) receive(time.Time) (any, error)   { return nil, os.ErrInvalid }
func (sentBy) interrupt()                       {}
func (sentBy) close()                           {}
