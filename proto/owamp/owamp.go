// Package owamp speaks the One-way Active Measurement Protocol (RFC 4656) in both roles: its control connection, its test packets in the
// open, the authenticated and the encrypted mode, and its send schedules, which both ends compute alike.
//
// One test, as it crosses the control connection once that is set up (package control); each message ends with a digest:
//
//	client                                        server
//	Request-Session, slots                   ->               once for each session
//	                                         <-   Accept-Session: port, and the session's ID if the server receives
//	Start-Sessions                           ->
//	                                         <-   Start-Ack
//	        test packets, each session from its sender to its receiver over UDP, by its schedule
//	Stop-Sessions                           <->   each end's, with what its senders skipped; either may be first
//	Fetch-Session                            ->
//	                                         <-   Fetch-Ack, the request, skipped ranges, records
//
// While the packets of a session come, its records so far can be fetched on another connection: Finished is 0 then.
//
// The wire formats (schedule.go, packet.go, command.go, record.go) and what a receiver makes of arrivals (ledger.go) touch no socket.
//
// # What is other than in the RFC
//
// Section 4.2 has a receiver drop a packet whose time stamp is further than the timeout from the schedule, or from the receiver's clock. With
// clocks that differ by more than that, every packet would be lost. Here a packet is late only by the receiver's own clock, counted from when
// its sender's schedule began there, and time stamps are compared only where both ends say that their clocks are synchronised.
// When Stop-Sessions comes early, records of the last packets are dropped only where one of them is missing: those that came are true.
package owamp

import (
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/control"
)

const (
	// DefaultPort is that of OWAMP-Control (IANA).
	DefaultPort = 861
	// SparePort is where our servers answer that may not open it: the port is of nobody (IANA).
	SparePort = 5861
)

// What one session may ask for at the most, whoever asks.
const (
	MostPackets = 100_000_000
	MostSlots   = 1024
	MostPadding = 65_000 // with all headers a datagram has 65,535 bytes at the most
	mostTime    = 24 * time.Hour
	mostDSCP    = 63
	// mostLead is how far ahead a session may be set. What is further is of a clock that is off, and the session begins at once. One that is
	// off by less makes it begin late, which the other end waits for where it hears nothing.
	mostLead = 5 * time.Second
)

// Terms say what one session is.
type Terms struct {
	Packets int           // 1 at least
	Slots   []Slot        // in turn, from the first on
	Padding int           // bytes of each packet beyond what its mode needs
	Timeout time.Duration // after it was to be sent a packet counts as lost; 0: 2 s
	DSCP    int           // of its packets
	Start   time.Time     // of its schedule; the zero value: as soon as both ends can
}

// defaultTimeout is beyond what packets wait on any path that still works.
const defaultTimeout = 2 * time.Second

// Periodic is the schedule of a packet each so often, the first at once.
func Periodic(every time.Duration, packets int) []Slot {
	if packets < 2 {
		return []Slot{Fixed(0)}
	}
	return []Slot{Fixed(every)}
}

// Validate reports the first of the terms that cannot be, as an error of package input.
func (t Terms) Validate() error {
	for _, c := range []struct {
		name            string
		is, least, most int
	}{
		{"packets", t.Packets, 1, MostPackets}, {"slots", len(t.Slots), 1, MostSlots}, {"padding", t.Padding, 0, MostPadding},
		{"DSCP", t.DSCP, 0, mostDSCP},
	} {
		if c.is < c.least || c.is > c.most {
			return input.Errorf("%s %d: want %d to %d", c.name, c.is, c.least, c.most)
		}
	}
	if t.Timeout < 0 || t.Timeout > mostTime {
		return input.Errorf("timeout %v: want at most %v", t.Timeout, mostTime)
	}
	for _, s := range t.Slots {
		if s.Kind != exponentialSlot && s.Kind != fixedSlot {
			return input.Errorf("slot of kind %d: want 0, exponential, or 1, fixed", s.Kind)
		}
	}
	return nil
}

func (t Terms) withDefaults() Terms {
	if t.Timeout == 0 {
		t.Timeout = defaultTimeout
	}
	return t
}

// request asks for a session of these terms.
func (t Terms) request() control.Request {
	return control.Request{
		Command: control.RequestSession, Slots: uint32(len(t.Slots)), Packets: uint32(t.Packets), Padding: uint32(t.Padding),
		Start: control.TimestampOf(t.Start), Timeout: control.IntervalOf(t.Timeout), TypeP: control.DSCPType(t.DSCP),
	}
}

// termsOf are what a request and its slots ask for; supported is false where nothing here could do it, whatever its limits.
func termsOf(r control.Request, slots []Slot) (t Terms, supported bool) {
	dscp, known := r.TypeP.DSCP()
	if r.Packets > MostPackets || r.Padding > MostPadding || r.Timeout > control.IntervalOf(mostTime) {
		return t, false
	}
	t = Terms{Packets: int(r.Packets), Slots: slots, Padding: int(r.Padding), Timeout: r.Timeout.Duration(), DSCP: dscp, Start: r.Start.Time()}
	return t, known && t.Validate() == nil
}

// lead is how long after it is started the schedule of a session begins, by a clock. One set for a moment that is past does not catch up.
func (t Terms) lead(now time.Time) time.Duration {
	if lead := t.Start.Sub(now); lead > 0 && lead <= mostLead {
		return lead
	}
	return 0
}

// length is when the last packet of a session is to be sent, since its start.
func (t Terms) length(id control.SID) (last time.Duration) {
	s := NewSchedule(id, t.Slots)
	for range t.Packets {
		last = s.Next()
	}
	return last
}
