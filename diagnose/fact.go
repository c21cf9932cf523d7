package diagnose

import (
	"maps"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// Name is what a fact is called: in rules, and between braces in the texts of the knowledge base.
type Name string

// Fact is one thing that Results say about a Subject. It is known, or says why not.
type Fact struct {
	Value     float64 // in the unit of its definition; 1 for yes and 0 for no
	Low, High float64 // the 95 % interval of Value, or the bounds that were found; both Value where it was counted or set
	Result    string  // ID of the Result that says so; "": several do, or it has none
	Unknown   string  // why it is not known; "": it is
}

// exactly is a fact that was counted, or is a setting.
func exactly(value float64, r *measure.Result) Fact {
	f := Fact{Value: value, Low: value, High: value}
	if r != nil {
		f.Result = r.ID
	}
	return f
}

// yes is a fact that is so or not.
func yes(is bool, r *measure.Result) Fact {
	if is {
		return exactly(1, r)
	}
	return exactly(0, r)
}

// Kind is what sort of thing facts are about.
type Kind string

const (
	OfWay  Kind = "way"  // one way of the path between two hosts
	OfPath Kind = "path" // the path between two hosts, over which nothing could be moved
	OfHost Kind = "host" // a host by itself
	// OfClocks are the wall clocks of both ends: that which asks is the sender here.
	OfClocks Kind = "clocks"
)

// Subject is something that Results say facts about.
type Subject struct {
	Kind Kind
	Name string // of a way measure.Forward or measure.Reverse; of a host its name

	// Of a way, or a connection: who sends and who receives, for advice; the one of them that was asked; the address of the receiver, and of a
	// way that of the sender.
	Sender, Receiver, Target, Address, SenderAddress string

	Responder  bool            // the target runs a Pathwise responder
	From, To   *measure.TCPEnd // settings of both ends; nil: not known
	congestion string          // control of the sender; "": not known

	hops  []measure.Hop        // of the way there, or the path: its route; nil: none was traced
	route *measure.RouteSample // what these say as a whole; nil: none was traced
	back  *measure.ReturnRoute // the way back, as the far end traced it; nil: it did not
	there []measure.Hop        // the way there, as it was traced beside that

	syns *measure.Result // a trace of SYNs, which tells what becomes of them; nil: none was made

	udp       []udpProbe
	episodes  []lossEpisode // of the transfer
	watched   bool          // its sender's kernel was read while it ran, so that these are all
	doubt     string        // why the capacity is uncertain; "": it is not
	shaped    string        // that a shaper passes less for long than at once, which is no capacity then; "": none showed
	atOnce    Fact          // the capacity then, for what the shaper's bucket holds
	standard  string        // the standard rate of links that a certain capacity is as of; "": none is near
	exceeded  bool          // the transfer was faster than the capacity that was measured
	brokenOff bool          // the transfer ended before all of it was reported (measure.StatusPartial)
	sized     bool          // packets were tried that no router may cut
	passed    bool          // some of these were answered
	tooLarge  bool          // and somebody said that some are too large
	hole      []measure.Hop // of a way on which large packets vanish: those that they pass, as samples.hops of the tool mtu has them; nil: not known
	failed    string        // of a path, or a way, why nothing could be moved; "": nobody tried, or it could
	refuted   []refuted     // causes that their own formulas rule out

	common   *Common  // of a way, what others of the mesh that are worse have in common with it; nil: nothing is known
	declared Declared // of a way
	via      Via      // of a way: by which a round trip is known to be possible, too

	target *Target         // that packets were sent at the rate of; nil: none
	event  *Event          // of what changed; nil: the subject is none
	audit  *measure.Result // of a host, what it is set to; nil: nobody looked

	pattern map[string]any // of transactions, what was measured: parameters of their test; nil: nothing was
	asked   bool           // the pattern is that of a program, which somebody told of
	service string         // the port of a service that connections were opened to

	way     measure.Way // of a connection: that its data goes
	program string      // of a connection: what has it at this end; "": that may not be seen

	facts map[Name]Fact
	heard func(Name) // told of each fact that is looked up, known or not; nil: nobody wants to know
}

// Fact returns what is known under a name.
func (s *Subject) Fact(n Name) Fact {
	if s.heard != nil {
		s.heard(n)
	}
	f, known := s.facts[n]
	if !known {
		f.Unknown = untold
	}
	return f
}

// untold is why a fact is not known where nobody tried to measure it.
const untold = "no measurement told it"

// Known reports whether a fact is known.
func (s *Subject) Known(n Name) bool { return s.Fact(n).Unknown == "" }

// Value returns the value of a fact; 0 where the fact is not known.
func (s *Subject) Value(n Name) float64 { return s.Fact(n).Value }

// Is reports whether a fact is known to be so.
func (s *Subject) Is(n Name) bool { return s.Value(n) != 0 }

// set notes a fact. One that is not known never replaces one that is.
func (s *Subject) set(n Name, f Fact) {
	if _, known := s.facts[n]; known && f.Unknown != "" && s.facts[n].Unknown == "" {
		return
	}
	if s.facts == nil {
		s.facts = map[Name]Fact{}
	}
	s.facts[n] = f
}

// setPositive notes a fact whose value 0 means that it is not known.
func (s *Subject) setPositive(n Name, value float64, r *measure.Result) {
	if value > 0 {
		s.set(n, exactly(value, r))
	}
}

// setLeast notes a fact of which the smallest value counts that any Result says, with that Result. 0 means that it is not known.
func (s *Subject) setLeast(n Name, value float64, r *measure.Result) {
	if !s.Known(n) || value < s.Value(n) {
		s.setPositive(n, value, r)
	}
}

// with returns a copy in which some facts are other ones: the subject as it would be after a cure.
func (s *Subject) with(changed map[Name]float64) *Subject {
	copied := *s
	copied.facts = map[Name]Fact{}
	maps.Copy(copied.facts, s.facts)
	for n, value := range changed {
		copied.facts[n] = exactly(value, nil)
	}
	return &copied
}

// ipHeader is the size of the headers of IP on a way, in bytes.
func (s *Subject) ipHeader() float64 { return ipHeader(s.Address) }

// payloadShare is what of an IP packet is payload. The MSS that the kernel reports has the TCP timestamps taken off.
func (s *Subject) payloadShare(mss float64) float64 {
	headers := s.ipHeader() + model.TCPHeader + model.TCPTimestamps
	return model.Overhead{MTU: mss + headers, Headers: headers}.PayloadShare()
}
