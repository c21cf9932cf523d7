package lab

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/record"
)

// truth is the network's, with flows and with what only the engine knows. The pump goes on while records are copied.
func (e *engine) truth(w Window) *Truth {
	u := e.pump
	overflowed := u.overflowed()
	u.mu.Lock()
	u.advance() // what has come and gone by now counts
	t := u.network.Truth()
	all, late := u.network.latenessOf(), u.network.late
	refused, behind := u.refusals, u.behind
	from, to := w.bounds(u.network.now)
	reading := u.network.Book.Read(from, to)
	if w.whole() {
		reading = u.network.Book.ReadAll()
	}
	u.mu.Unlock()
	for more := true; more; {
		u.mu.Lock()
		more = reading.Step()
		u.mu.Unlock()
	}
	t.Started = u.start.UTC()
	t.Flows = reading.Flows()
	t.FlowsFrom, t.FlowsTo, t.RecordsFrom = inSeconds(from), inSeconds(to), inSeconds(reading.RecordsFrom())
	t.Emulator = judge(overflowed, refused, all.Count(), late, behind)
	t.Emulator.LateP99 = QuantileSeconds(&all, 0.99)
	t.Emulator.Stolen = ReadProcessorTime().StolenSince(e.began)
	if why := DescribeStolen(t.Emulator.Stolen); t.Emulator.Bottleneck && why != "" {
		t.Emulator.Why += "; " + why
	}
	t.EmulatorRefused = t.Emulator.Refused
	return t
}

// The emulator is held to be what limited a test from a share of late packets that leaves room for the odd hiccup of a
// virtual machine, and not for fewer than a short ping may have by chance.
const (
	lateBottleneck = 0.01
	lateFewest     = 10
)

// behindBound is how far, in ns, the emulator may fall behind before whatever waits for it is called late.
const behindBound = int64(50 * time.Millisecond)

// judge says whether the emulator kept up.
func judge(overflowed, refused, packets, late uint64, behind int64) EmulatorTruth {
	e := EmulatorTruth{Refused: refused, Overflowed: overflowed, Behind: inSeconds(behind)}
	if packets > 0 {
		e.LateShare = float64(late) / float64(packets)
	}
	var why []string
	if overflowed > 0 {
		why = append(why, fmt.Sprintf("it did not read %d packets in time", overflowed))
	}
	if refused > 0 {
		why = append(why, fmt.Sprintf("a host's interface did not take %d packets", refused))
	}
	if e.LateShare > lateBottleneck && late >= lateFewest {
		why = append(why, fmt.Sprintf("%.1f %% of packets left more than %v late", 100*e.LateShare, LateBound))
	}
	if behind > behindBound {
		why = append(why, fmt.Sprintf("it was up to %v behind with its links", time.Duration(behind).Round(time.Millisecond)))
	}
	e.Bottleneck, e.Why = len(why) > 0, strings.Join(why, "; ")
	return e
}

// Window is a stretch of the lab's time, in seconds since it came up: packets sent from From on and before To. The zero
// value is all of it; To 0 is now; negative values count back from now.
type Window struct {
	From float64 `json:"from_seconds,omitempty"`
	To   float64 `json:"to_seconds,omitempty"`
}

func (w Window) whole() bool { return w == Window{} }

func (w Window) bounds(now int64) (from, to int64) {
	place := func(seconds float64) int64 {
		ns := int64(min(max(seconds, -maxWindow), maxWindow) * float64(time.Second))
		if ns < 0 {
			ns += now
		}
		return ns
	}
	from, to = place(w.From), now+1
	if w.To != 0 {
		to = place(w.To)
	}
	return max(0, from), to
}

// maxWindow keeps times within an int64 of nanoseconds.
const maxWindow = math.MaxInt64 / 4e9

// Validate reports a window that is none.
func (w Window) Validate() error {
	if math.IsNaN(w.From) || math.IsNaN(w.To) || w.To > 0 && w.From >= w.To {
		return specErrorf("window: from %v to %v: want from before to", w.From, w.To)
	}
	return nil
}

// FollowOptions say what is followed: packets end to end, or, with Links, what becomes of each on every link.
type FollowOptions struct {
	Links bool `json:"links,omitempty"`
}

// Event is what became of a packet, as it happens.
type Event struct {
	record.Line
	Missed uint64 `json:"missed,omitempty"` // events before this one that the reader was too slow for, in all
}

// followBuffer holds half a second of 125,000 packets/s over one link.
const followBuffer = 1 << 16

// follow sends what becomes of packets until the user goes.
func (e *engine) follow(o FollowOptions, gone <-chan struct{}, reply *json.Encoder) {
	feed := record.NewFeed(followBuffer, !o.Links, o.Links)
	u := e.pump
	u.mu.Lock()
	u.network.Book.Follow(feed)
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.network.Book.Unfollow(feed)
	}()
	events := make([]record.Event, 1024)
	for {
		n := feed.Drain(events)
		if n == 0 {
			select {
			case <-feed.Ready():
			case <-gone:
				return
			}
			continue
		}
		u.mu.Lock()
		keys := u.network.Book.Keys()
		u.mu.Unlock()
		for i := range events[:n] {
			if reply.Encode(answer{Event: e.event(&events[i], keys, feed.Missed())}) != nil {
				return
			}
		}
	}
}

// event names what a record's event numbers.
func (e *engine) event(r *record.Event, keys []packet.Key, missed uint64) *Event {
	line := r.Line(keys)
	if d := int(r.Direction); d >= 0 {
		l := d / 2
		line.Link, line.Direction = []string{e.plan.nodeOf(2 * l), e.plan.nodeOf(2*l + 1)}, wayNames[d%2]
	}
	return &Event{Line: line, Missed: missed}
}
