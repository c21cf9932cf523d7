package beacon

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// Member is one of a group.
type Member struct {
	ID      ID
	Name    string     // as it calls itself; others may do so too
	Address netip.Addr // that its packets came from; the zero value: of this member, and of those that were only heard of
	Self    bool
	Sent    uint32 // probes, as far as is known
	Done    bool   // it sends no more
}

// Pair is a sender and one who listens to it, and what is known of the way between.
type Pair struct {
	Sender, Receiver Member
	Told             bool // the receiver has told its figures; without it they are the zero value
	Final            bool // and they are of all the sender's probes that came while it listened
	Figures          Figures
}

// Report is the matrix of a group as one of its members knows it.
type Report struct {
	Members  []Member // this one first, the others by name, then ID
	Pairs    []Pair   // of all members, sender by sender, in their order
	Complete bool     // every pair is final

	Unsent  int // probes that this host could not send; they are not numbered
	Counts  Counts
	Began   time.Time     // when it listened
	Ended   time.Time     // when the report was made
	Stepped time.Duration // how far this host's wall clock was set meanwhile, which makes delays wrong
}

// matrix makes the pairs of what a member found itself, as blocks, and of what the others told.
func (r *roster) matrix(self Member, own []Block) Report {
	report := Report{Members: []Member{self}, Counts: r.counts, Complete: true}
	report.Members[0].Self = true
	for id, m := range r.members {
		if m.name != "" {
			report.Members = append(report.Members, Member{ID: id, Name: m.name, Address: m.address, Sent: m.stream.known, Done: m.done})
		}
	}
	slices.SortFunc(report.Members[1:], func(a, b Member) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	mine := make(map[ID]Block, len(own))
	for _, b := range own {
		mine[b.Member] = b
	}
	for _, sender := range report.Members {
		for _, receiver := range report.Members {
			if sender.ID == receiver.ID {
				continue
			}
			b, told := mine[sender.ID]
			if !receiver.Self {
				var other toldBlock
				other, told = r.members[receiver.ID].blocks[sender.ID]
				b = other.Block
			}
			report.Pairs = append(report.Pairs, Pair{Sender: sender, Receiver: receiver, Told: told, Final: told && b.Final, Figures: b.Figures})
			report.Complete = report.Complete && told && b.Final
		}
	}
	return report
}
