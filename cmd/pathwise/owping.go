package main

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// owpingWay is what one way of a Result was, as owping tells of a session. owping knows a session for each way.
type owpingWay struct {
	*measure.Result
	way              string
	sid              string
	from, to         end
	sent, lost, dups float64
	first, last      time.Time
	hops             measure.Metric
	packets          []onePacket // those that the Result lists, in the order in which they came; lost ones at the end
}

// end is a host of a session.
type end struct{ name, address, port string }

// onePacket is a packet of a way. Its times are by the clock of the end that stamped it.
type onePacket struct {
	seq        int
	sent, came time.Time // came: the zero value for a lost one
	delay      float64   // in seconds
	ttl        int       // on arrival; 0: not known
}

// owpingWays are both ways of a Result. On the way back a packet is taken to leave when it arrived there: what the reflector took is in none of
// the delays.
func owpingWays(r *measure.Result) [2]*owpingWay {
	near := end{r.Source.NameOrAddress(), r.Source.Address, "0"}
	far := end{r.Target.NameOrAddress(), r.Target.Address, "0"}
	if port, known := r.Number("port"); known {
		far.port = fmt.Sprint(port)
	}
	forward := &owpingWay{Result: r, way: measure.Forward, from: near, to: far, hops: measure.HopCount}
	reverse := &owpingWay{Result: r, way: measure.Reverse, from: far, to: near, hops: measure.ReverseHopCount}
	for _, w := range []*owpingWay{forward, reverse} {
		w.sid = r.ID
		if id, err := ulid.ParseStrict(r.ID); err == nil {
			w.sid = hex.EncodeToString(id.Bytes())
		}
		w.sent, w.lost, w.dups = r.Metrics[measure.SentPackets], r.Metrics[measure.LostPackets], r.Metrics[measure.DuplicatePackets]
		if n, known := r.Get(measure.SentOn(w.way)); known {
			w.sent, w.lost, w.dups = n, r.Metrics[measure.LostOn(w.way)], r.Metrics[measure.DuplicateOn(w.way)]
		}
		w.first, w.last = r.Started, r.Started
		w.gather()
	}
	return [2]*owpingWay{forward, reverse}
}

// gather takes a way's packets out of the samples.
func (w *owpingWay) gather() {
	for _, e := range w.Samples.Echoes {
		if e.Way != "" && e.Way != w.way {
			continue
		}
		p := onePacket{seq: e.Seq, sent: w.Started.Add(inSeconds(e.SentSeconds))}
		if w.last = p.sent; e.Way != "" {
			p.arrive(e)
		} else if e.ForwardSeconds != nil && e.ReverseSeconds != nil {
			p.delay = *e.ForwardSeconds
			if w.way == measure.Reverse {
				p.sent, p.delay, p.ttl = p.sent.Add(inSeconds(*e.ForwardSeconds)), *e.ReverseSeconds, e.TTL
			}
			p.came = p.sent.Add(inSeconds(p.delay))
		}
		w.packets = append(w.packets, p)
	}
	slices.SortStableFunc(w.packets, func(a, b onePacket) int {
		if a.came.IsZero() != b.came.IsZero() {
			return cmp.Compare(btoi(a.came.IsZero()), btoi(b.came.IsZero()))
		}
		return a.came.Compare(b.came)
	})
}

// arrive notes when a packet came that went one way alone, if it did.
func (p *onePacket) arrive(e measure.Echo) {
	for _, delay := range []*float64{e.ForwardSeconds, e.ReverseSeconds} {
		if delay != nil {
			p.delay, p.ttl = *delay, e.TTL
			p.came = p.sent.Add(inSeconds(p.delay))
		}
	}
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// synchronized reports whether both clocks are kept.
func (w *owpingWay) synchronized() bool {
	return w.Clock.Synchronized && w.TargetClock != nil && w.TargetClock.Synchronized
}

// orders are, by n, how many packets are n-reordered (RFC 4737 section 5.3) for all n up to the largest, in the order in which they left that way.
func (w *owpingWay) orders() (counts []int, came int) {
	var seqs []uint64
	for _, p := range w.packets {
		if !p.came.IsZero() {
			seqs = append(seqs, uint64(p.sent.UnixNano()))
		}
	}
	return stat.NReordered(seqs), len(seqs)
}

// owpingText writes a Result as owping does, for scripts that read that: forward, then reverse.
func owpingText(w io.Writer, r *measure.Result) {
	for _, way := range owpingWays(r) {
		way.text(w)
	}
}

// owpingTime is how owping writes a time: in UTC, to the millisecond.
const owpingTime = "2006-01-02T15:04:05.000"

// text writes a way as owping does for people.
func (w *owpingWay) text(out io.Writer) {
	fmt.Fprintf(out, "\n--- owping statistics from [%s]:%s to [%s]:%s ---\n", w.from.name, w.from.port, w.to.name, w.to.port)
	fmt.Fprintf(out, "SID:\t%s\nfirst:\t%s\nlast:\t%s\n", w.sid, w.first.UTC().Format(owpingTime), w.last.UTC().Format(owpingTime))
	fmt.Fprintf(out, "%.0f sent, %.0f lost (%.3f%%), %.0f duplicates\n", w.sent, w.lost, 100*w.lost/max(1, w.sent), w.dups)
	if _, any := w.Get(measure.OneWay(w.way, "min")); !any {
		return
	}
	const ms = 1000
	m, quality := w.Metrics, "unsync"
	if w.synchronized() {
		quality = fmt.Sprintf("err=%.3g ms", ms*m[measure.OneWayError])
	}
	fmt.Fprintf(out, "one-way delay min/median/max = %.3g/%.3g/%.3g ms, (%s)\n", ms*m[measure.OneWay(w.way, "min")],
		ms*m[measure.OneWay(w.way, "median")], ms*m[measure.OneWay(w.way, "max")], quality)
	fmt.Fprintf(out, "one-way jitter = %.3g ms (P95-P50)\n", ms*m[measure.OneWaySpread(w.way)])
	if n, known := w.Get(w.hops); known {
		fmt.Fprintf(out, "hops = %.0f (consistently)\n", n-1)
	} else {
		fmt.Fprintln(out, "TTL not reported")
	}
	counts, came := w.orders()
	for i, n := range counts {
		fmt.Fprintf(out, "%d-reordering = %f%%\n", i+1, 100*float64(n)/float64(came))
	}
	if len(counts) == 0 {
		fmt.Fprintln(out, "no reordering")
		return
	}
	fmt.Fprintf(out, "no %d-reordering\n", len(counts)+1)
}
