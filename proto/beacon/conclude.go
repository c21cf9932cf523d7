package beacon

import (
	"cmp"
	"slices"
	"time"
)

// figures are what this member found of another's probes by a time; its clock may be off by bound, where that is known.
func (r *roster) figures(m *member, now time.Time, bound time.Duration, known bool) Figures {
	if len(m.stream.arrivals) == 0 {
		f := Figures{To: m.stream.known, Hops: -1, HopsMost: -1}
		if m.began.Before(r.listening) {
			f.From = min(m.firstKnown, f.To)
		}
		f.LossRun = f.Judged()
		return f
	}
	f := m.stream.judge(r.listening.UnixNano(), now.Add(-Drain).UnixNano())
	if known && !m.unknown {
		f.ClockError, f.ClockKnown = bound+m.worst, true
	}
	return f
}

// blocks are what this member tells of all others by a time, in the order of their IDs.
func (r *roster) blocks(now time.Time, bound time.Duration, known bool) []Block {
	blocks := make([]Block, 0, len(r.members))
	for _, m := range r.members {
		if m.name == "" || m.stream.known == 0 {
			continue
		}
		b := Block{Member: m.id, Name: m.name, Known: m.stream.known, Done: m.done, Figures: r.figures(m, now, bound, known)}
		b.Final = m.done && now.Sub(m.doneAt) >= Drain && b.Figures.To == b.Known
		if n := len(m.stream.arrivals); n > 0 {
			last := &m.stream.arrivals[n-1]
			b.Age = time.Duration(last.sent - m.stream.began + now.UnixNano() - last.at)
		} else {
			b.Age = now.Sub(m.began)
		}
		b.Age = b.Age.Truncate(time.Millisecond)
		blocks = append(blocks, b)
	}
	slices.SortFunc(blocks, func(a, b Block) int { return cmp.Compare(a.Member, b.Member) })
	return blocks
}

// complete reports whether blocks judge all the probes of all senders that are there.
func (r *roster) complete(blocks []Block, now time.Time) bool {
	return !slices.ContainsFunc(blocks, func(b Block) bool { return !b.Final && r.members[b.Member].there(now) })
}

// told reports whether all members that are there have told this one all that they will.
func (r *roster) told(now time.Time) bool {
	return r.each(now, (*member).toldAll)
}

// ready reports whether all members that are there say the same of themselves, so that nobody needs this one any more.
func (r *roster) ready(now time.Time) bool {
	return r.each(now, func(m *member) bool { return m.report.Told })
}

// each reports whether something is so of each member that is heard and there.
func (r *roster) each(now time.Time, is func(*member) bool) bool {
	for _, m := range r.members {
		if m.address.IsValid() && m.there(now) && !is(m) {
			return false
		}
	}
	return true
}

// toldAll reports whether a member has told all that it will, and all of that came.
func (m *member) toldAll() bool {
	came := 0
	for _, b := range m.blocks {
		if b.judged == m.report.Judged {
			came++
		}
	}
	return m.report.Complete && came >= m.report.All
}

// there reports whether more may be heard of a member.
func (m *member) there(now time.Time) bool { return !m.gone && now.Sub(m.news) < silence }
