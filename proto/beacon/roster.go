package beacon

import (
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
)

// silence is after how long a member of which nothing more is heard counts as gone: three reports.
const silence = 3 * time.Second

// Counts are of the packets that came, and of those of no use.
type Counts struct {
	Probes, Reports int
	Own             int // of this member, which the host hands back to it
	Foreign         int // no beacon's
	Malformed       int
	Conflicts       int // of a member that was heard from another address before
	Refused         int // of members beyond MostMembers, and probes beyond what a member keeps: figures of those are wrong
}

// Heard is a packet's way here.
type Heard struct {
	From netip.Addr
	At   time.Time // by the receiver's wall clock
	TTL  int       // 0: not known
	DSCP int       // -1: not known
}

// roster is what a member knows of the others. It changes only by hear; times come in from outside.
type roster struct {
	self      ID
	listening time.Time // since when it judges
	members   map[ID]*member
	arrivals  int
	counts    Counts
}

// member is another member, as far as it was heard, or heard of.
type member struct {
	id      ID
	name    string
	address netip.Addr // the zero value: never heard, only heard of
	stream  stream
	planned uint32        // 0: not known
	worst   time.Duration // the most that its clock may be off
	unknown bool          // it does not tell, at least once
	done    bool          // it sends no more
	doneAt  time.Time     // when that became known
	gone    bool          // it said that it leaves
	news    time.Time     // when it was last heard, or heard to have sent more

	firstKnown uint32    // the least that it was heard to have sent when it was first heard of
	began      time.Time // when it began to send, by this member's clock, as reports say; the zero value: they say nothing of it

	report ReceiverReport // the last one, without blocks; the zero value: none
	blocks map[ID]toldBlock
}

// toldBlock is a block of a report, and when that was made.
type toldBlock struct {
	Block
	judged control.Timestamp
}

func newRoster(self ID, listening time.Time) *roster {
	return &roster{self: self, listening: listening, members: map[ID]*member{}}
}

// hear takes a packet.
func (r *roster) hear(data []byte, h Heard) {
	packet, err := Decode(data)
	switch {
	case err == ErrForeign:
		r.counts.Foreign++
		return
	case err != nil:
		r.counts.Malformed++
		return
	case packet.from() == r.self:
		r.counts.Own++
		return
	}
	m := r.direct(packet.from(), h)
	if m == nil {
		return
	}
	m.news = h.At
	switch p := packet.(type) {
	case *Probe:
		r.counts.Probes++
		r.hearProbe(m, p, h)
	case *ReceiverReport:
		r.counts.Reports++
		r.hearReport(m, p, h)
	}
}

// direct returns the member that a packet is of; nil where there is no place for it, or it is of somebody else.
func (r *roster) direct(id ID, h Heard) *member {
	m := r.members[id]
	if m == nil {
		if m = r.add(id, true); m == nil {
			r.counts.Refused++
			return nil
		}
	}
	if m.address.IsValid() && m.address != h.From {
		r.counts.Conflicts++
		return nil
	}
	m.address = h.From
	return m
}

// add makes a place for a member. One that is heard takes that of one which is only heard of.
func (r *roster) add(id ID, heard bool) *member {
	if len(r.members) >= MostMembers {
		if !heard {
			return nil
		}
		for other, m := range r.members {
			if !m.address.IsValid() {
				delete(r.members, other)
				break
			}
		}
		if len(r.members) >= MostMembers {
			return nil
		}
	}
	m := &member{id: id, blocks: map[ID]toldBlock{}}
	r.members[id] = m
	return m
}

func (r *roster) hearProbe(m *member, p *Probe, h Heard) {
	if r.arrivals >= mostArrivals {
		r.counts.Refused++
		return
	}
	r.arrivals++
	hops := int16(-1)
	if h.TTL > 0 && h.TTL <= int(p.TTL) {
		hops = int16(int(p.TTL) - h.TTL)
	}
	m.name, m.planned = p.Name, p.Planned
	m.stream.began, m.stream.interval = p.Began.Time().UnixNano(), p.Interval
	m.stream.arrivals = append(m.stream.arrivals, arrival{sent: p.Sent.Time().UnixNano(), at: h.At.UnixNano(), sequence: p.Sequence, hops: hops,
		remarked: h.DSCP >= 0 && h.DSCP != int(p.DSCP)})
	m.sent(p.Sequence+1, false, h.At)
	bound, known := p.Error.Bound()
	m.worst, m.unknown = max(m.worst, bound), m.unknown || !known
}

// sent notes that a member was heard to have sent some probes, and whether it sends no more.
func (m *member) sent(known uint32, done bool, at time.Time) {
	if m.planned > 0 {
		known = min(known, m.planned)
	}
	if known > m.stream.known {
		m.stream.known, m.news = known, at
	}
	if done && !m.done {
		m.done, m.doneAt, m.news = true, at, at
	}
}

func (r *roster) hearReport(m *member, p *ReceiverReport, h Heard) {
	if m.name == "" {
		m.firstKnown = p.Sent
	}
	m.name = p.Name
	if m.began.IsZero() && p.Began > 0 {
		m.began = h.At.Add(-p.Judged.Time().Sub(p.Began.Time()))
	}
	m.sent(p.Sent, p.Done, h.At)
	m.gone = m.gone || p.Leaving
	if p.Judged < m.report.Judged { // overtaken by a later one
		return
	}
	for _, b := range p.Blocks {
		if b.Member != r.self {
			r.hearOf(b, h.At)
		}
		if _, known := m.blocks[b.Member]; !known && len(m.blocks) == MostMembers {
			r.counts.Refused++
			continue
		}
		m.blocks[b.Member] = toldBlock{b, p.Judged}
	}
	m.report = *p
	m.report.Blocks = nil
}

// hearOf takes what another member tells of a sender.
func (r *roster) hearOf(b Block, at time.Time) {
	m := r.members[b.Member]
	if m == nil {
		if m = r.add(b.Member, false); m == nil {
			return
		}
		m.name, m.firstKnown, m.began = b.Name, b.Known, at.Add(-b.Age)
	}
	m.sent(b.Known, b.Done, at)
}
