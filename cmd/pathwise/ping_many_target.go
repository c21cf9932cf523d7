package main

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/proto/echo"
	"github.com/pathwise-net/pathwise/stat"
)

// manyTarget is one of many targets, and what is known of it so far.
type manyTarget struct {
	echo.Target
	sent, lost int
	rtts       stat.Sketch // of its answers
	recent     []float64   // the latest, in order, at most pingRecent of them; NaN: lost
	said       string      // by the last ICMP error about a request; "": none came
	failed     error       // it has no address, or this host could not send
	parts      []*manyPart // whose Results are still to be printed
}

// manyPart is the requests to a target that one Result is of.
type manyPart struct {
	number       int // from 0
	record       *probe.PingRecord
	sent, closed int // requests, and those of which it is known what became of them
}

// add counts what became of a request.
func (t *manyTarget) add(e echo.Event) {
	rtt := math.NaN()
	switch e.Fate {
	case echo.Sent:
		t.sent++
		return
	case echo.Duplicate:
		return
	case echo.Answered:
		rtt = e.RTT.Seconds()
		t.rtts.Add(rtt)
	case echo.Refused:
		if unsent(e) {
			t.sent--
			t.failed = fmt.Errorf("ping %s: send: %s", t.Name, e.Why)
			return
		}
		t.said = refusal(e) + ", said " + e.From.String()
		t.lost++
	case echo.Lost:
		t.lost++
	}
	t.recent = append(t.recent[max(0, len(t.recent)-pingRecent+1):], rtt)
}

// unsent says whether this host could not send the request.
func unsent(e echo.Event) bool { return e.Fate == echo.Refused && !e.From.IsValid() && e.TTL == 0 }

// refusal is what an ICMP error said.
func refusal(e echo.Event) string {
	if e.MTU > 0 {
		return fmt.Sprintf("%s (MTU %d bytes)", e.Why, e.MTU)
	}
	return e.Why
}

// echoOf is an event as samples have it.
func echoOf(e echo.Event) measure.Echo {
	one := measure.Echo{Seq: int(e.Sequence) + 1, SentSeconds: e.SentAt.Seconds(), TTL: e.TTL}
	if e.From.IsValid() {
		one.From = e.From.String()
	}
	switch e.Fate {
	case echo.Answered, echo.Duplicate:
		one.RTTSeconds = new(e.RTT.Seconds())
	case echo.Refused:
		one.Error = refusal(e)
	}
	return one
}

// record keeps what became of a request for the Result that has it, and prints that once it is whole and others follow.
func (m *manyPing) record(t *manyTarget, e echo.Event) {
	number := int(e.Sequence) / m.keep
	i := slices.IndexFunc(t.parts, func(p *manyPart) bool { return p.number == number })
	if i < 0 && e.Fate != echo.Sent {
		return // a duplicate of what is printed
	}
	if i < 0 {
		asked := *m.asked
		asked.Target, asked.Count = t.Name, m.keep
		i = len(t.parts)
		t.parts = append(t.parts, &manyPart{number: number, record: probe.NewPingRecord(asked, t.Address, m.socket)})
	}
	part := t.parts[i]
	switch {
	case e.Fate == echo.Sent:
		part.record.Sent(int(e.Sequence)+1, m.began.Add(e.SentAt))
		part.sent++
		return
	case unsent(e):
		part.record.Unsent()
	default:
		part.record.Settled(echoOf(e), e.Kernel)
	}
	if e.Fate != echo.Duplicate {
		part.closed++
	}
	if whole, last := part.sent == m.keep && part.closed == m.keep, (number+1)*m.keep >= m.pinger.Count; whole && !last {
		t.parts = slices.Delete(t.parts, i, i+1)
		m.emitPart(part, t.failed)
	}
}

// emitPart prints a Result on a line of its own.
func (m *manyPing) emitPart(part *manyPart, failed error) {
	r := part.record.Result(m.clock, failed)
	m.measured(r)
	if err := json.NewEncoder(m.out).Encode(r); err != nil && m.wrong == nil {
		m.wrong = fmt.Errorf("write outcome: %w", err)
	}
}

// emitRest prints the Results that are left, in the order of the targets; ended is why the requests ended early.
func (m *manyPing) emitRest(ended error) {
	for _, t := range m.targets {
		failed := t.failed
		if failed == nil && ended != nil && t.lost+int(t.rtts.Count()) < m.pinger.Count {
			failed = fmt.Errorf("ping %s: %w", t.Name, ended)
		}
		if t.sent == 0 && len(t.parts) == 0 {
			asked := *m.asked
			asked.Target = t.Name
			t.parts = append(t.parts, &manyPart{record: probe.NewPingRecord(asked, t.Address, m.socket)})
		}
		for _, part := range t.parts {
			m.emitPart(part, failed)
		}
		t.parts = nil
	}
}
