package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
)

// What owping prints for programs: a line a packet (owping -R), or keys and values (owping -M). Times are NTP time stamps as decimal numbers of 20
// digits; differences are in seconds. A packet's error is what its own clock is worth, as that end claims.

// owpingRaw writes both ways as owping -R does:
//
//	SEQNO STIME SS SERR RTIME RS RERR TTL
//
// SS and RS are 1 where the clock of sender and receiver is kept; a lost packet has a receive time of 0, and 255 stands for a TTL that is not known.
func owpingRaw(out io.Writer, r *measure.Result) {
	for _, w := range owpingWays(r) {
		here, there := clockText(&r.Clock), clockText(r.TargetClock)
		if w.way == measure.Reverse {
			here, there = there, here
		}
		for _, p := range w.packets {
			fmt.Fprintf(out, "%d %s %s %s %s %d\n", p.seq, ntp(p.sent), here, ntp(p.came), there, p.hops())
		}
	}
}

// unknownTTL is what owping tells of packets whose TTL the receiver does not see.
const unknownTTL = 255

func (p onePacket) hops() int {
	if p.ttl == 0 {
		return unknownTTL
	}
	return p.ttl
}

// clockText says of a clock whether it is kept, and the most that it is off by in seconds; 0, which owping also writes, where nobody knows.
func clockText(c *measure.Clock) string {
	if c == nil || c.ErrorSeconds == nil {
		return "0 0"
	}
	return fmt.Sprintf("%d %g", btoi(c.Synchronized), *c.ErrorSeconds)
}

// ntp is a time as owping writes it; 0: there is none.
func ntp(t time.Time) string {
	if t.IsZero() {
		return fmt.Sprintf("%020d", 0)
	}
	return fmt.Sprintf("%020d", control.TimestampOf(t))
}

// owpingMachine writes both ways as owping -M does, version 3 of its summaries.
func owpingMachine(out io.Writer, r *measure.Result) {
	for _, w := range owpingWays(r) {
		w.machine(out)
	}
}

// bucketSeconds is the width of owping's histogram of delays, where nothing else is said.
const bucketSeconds = 0.0001

func (w *owpingWay) machine(out io.Writer) {
	line := func(key, form string, value any) { fmt.Fprintf(out, "%s\t"+form+"\n", key, value) }
	line("SUMMARY", "%s", "3.00")
	line("SID", "%s", w.sid)
	line("FROM_HOST", "%s", w.from.name)
	line("FROM_ADDR", "%s", w.from.address)
	line("FROM_PORT", "%s", w.from.port)
	line("TO_HOST", "%s", w.to.name)
	line("TO_ADDR", "%s", w.to.address)
	line("TO_PORT", "%s", w.to.port)
	line("START_TIME", "%s", ntp(w.first))
	line("END_TIME", "%s", ntp(w.last))
	dscp, _ := w.Number("dscp")
	line("DSCP", "0x%02x", int(dscp))
	timeout, _ := w.Number("timeout")
	line("LOSS_TIMEOUT", "%d", uint64(control.IntervalOf(inSeconds(timeout))))
	size, _ := w.Number("size")
	line("PACKET_PADDING", "%d", max(0, int(size)-control.PacketBytes(control.Open, 0)))
	line("SESSION_PACKET_COUNT", "%.0f", w.sent)
	line("SAMPLE_PACKET_COUNT", "%.0f", w.sent)
	line("BUCKET_WIDTH", "%g", bucketSeconds)
	line("SESSION_FINISHED", "%d", btoi(w.Status == measure.StatusOK))
	line("SENT", "%.0f", w.sent)
	line("SYNC", "%d", btoi(w.synchronized()))
	line("MAXERR", "%g", w.Metrics[measure.OneWayError])
	line("DUPS", "%.0f", w.dups)
	line("LOST", "%.0f", w.lost)
	for _, quantile := range []string{"min", "median", "max"} {
		if v, any := w.Get(measure.OneWay(w.way, quantile)); any {
			line(strings.ToUpper(quantile), "%g", v)
		}
	}
	if v, any := w.Get(measure.OneWaySpread(w.way)); any {
		line("PDV", "%g", v)
	}
	w.histograms(out)
}

// histograms writes how many packets had which delay and which TTL, and how many were out of order by how much.
func (w *owpingWay) histograms(out io.Writer) {
	delays, ttls := map[int]int{}, map[int]int{}
	for _, p := range w.packets {
		if !p.came.IsZero() {
			delays[int(math.Ceil(p.delay/bucketSeconds))]++
			ttls[p.hops()]++
		}
	}
	counts, _ := w.orders()
	orders := map[int]int{len(counts) + 1: 0}
	for i, n := range counts {
		orders[i+1] = n
	}
	for i, of := range []map[int]int{delays, ttls, orders} {
		name := []string{"BUCKETS", "TTLBUCKETS", "NREORDERING"}[i]
		keys := slices.Sorted(maps.Keys(of))
		if name == "TTLBUCKETS" && len(keys) > 0 {
			fmt.Fprintf(out, "MINTTL\t%d\nMAXTTL\t%d\n", keys[0], keys[len(keys)-1])
		}
		if len(keys) == 0 {
			continue
		}
		fmt.Fprintf(out, "<%s>\n", name)
		for _, k := range keys {
			fmt.Fprintf(out, "\t%d\t%d\n", k, of[k])
		}
		fmt.Fprintf(out, "</%s>\n", name)
		if name == "TTLBUCKETS" {
			fmt.Fprintln(out)
		}
	}
}
