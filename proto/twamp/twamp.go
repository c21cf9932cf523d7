// Package twamp speaks the Two-way Active Measurement Protocol (RFC 5357) in both roles: its control connection, and its test packets in the
// open, the authenticated, the encrypted and the mixed mode (RFC 5618), with reflected octets and symmetrical sizes (RFC 6038).
//
// One test, as it crosses the control connection once that is set up (package control); each message ends with a digest:
//
//	client                                        server
//	Request-TW-Session                       ->               once for each session
//	                                         <-   Accept-Session: port, the session's ID
//	Start-Sessions                           ->
//	                                         <-   Start-Ack
//	        test packets from the client, each answered by the server, over UDP
//	Stop-Sessions                            ->
//
// A Client asks for sessions and ends them; whoever has it sends and stamps the packets itself, and reads and writes them by the Sealer of
// each session. The light mode is the same packets without a control connection: an unauthenticated STAMP reflector (package stamp) answers
// them, and a Sealer of the open mode reads its answers. The Sealer touches no socket.
//
// # What is other than in the RFC
//
// A server refuses sessions whose packets are shorter than their answers, and answers none that is: nobody who sends in the name of another
// host has more sent to that than it sent itself. Section 4.2.1 asks senders for so much padding anyway, and lets reflectors answer less.
package twamp

import (
	"encoding/binary"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/proto/control"
)

const (
	// DefaultPort is that of TWAMP-Control, over TCP; the same number over UDP is that of STAMP and the light mode (RFC 8545).
	DefaultPort = 862
	// SparePort is where our servers answer that may not open it: the port is of nobody (IANA).
	SparePort = 5862

	// Modes of protection that TWAMP has, and what may come beside one of them.
	Modes    = control.Open | SecuredModes
	Features = control.ReflectOctets | control.SymmetricalSize
	// SecuredModes are those that take a secret.
	SecuredModes = control.Authenticated | control.Encrypted | control.Mixed
)

const (
	mostPadding = 65_000 // with all headers a datagram has 65,535 bytes at the most
	mostDSCP    = 63
	mostTimeout = 24 * time.Hour
	// refWait is how long a session lives of which nothing is heard (REFWAIT of RFC 5357 section 4.2).
	refWait = 900 * time.Second
	// defaultTimeout is beyond what packets wait on any path that still works.
	defaultTimeout = 2 * time.Second
)

// Terms say what one session is.
type Terms struct {
	Port    uint16        // of the client, that its packets come from; required
	Padding int           // bytes of each packet beyond what its mode needs: at least as many as LeastPadding says
	Reflect int           // bytes of padding that come back as they left, if the server offers that (RFC 6038); 0: it does not matter
	DSCP    int           // of the answers
	Timeout time.Duration // for which the server goes on answering after the end; 0: 2 s
}

// LeastPadding is how much padding makes packets as long as their answers: none with symmetrical sizes.
func LeastPadding(m control.Mode) int { return ReflectionBytes(m, 0) - SenderBytes(m, 0) }

// Validate reports the first of the terms that cannot be in a mode, as an error of package input.
func (t Terms) Validate(m control.Mode) error {
	for _, c := range []struct {
		name            string
		is, least, most int
	}{
		{"port", int(t.Port), 1, 1<<16 - 1}, {"padding", t.Padding, LeastPadding(m), mostPadding}, {"reflected padding", t.Reflect, 0, t.Padding},
		{"DSCP", t.DSCP, 0, mostDSCP}, {"timeout", int(t.Timeout), 0, int(mostTimeout)},
	} {
		if c.is < c.least || c.is > c.most {
			return input.Errorf("%s %d: want %d to %d", c.name, c.is, c.least, c.most)
		}
	}
	return nil
}

// request asks for a session of these terms, at the port of the server that is the client's, if it can be had, as the deployed client does. With reflected octets its rest is: octets to be reflected in the answer (2), bytes of padding to
// reflect (2), zero (4).
func (t Terms) request(m control.Mode) control.Request {
	if t.Timeout == 0 {
		t.Timeout = defaultTimeout
	}
	r := control.Request{Command: control.RequestTwoWay, SenderPort: t.Port, ReceiverPort: t.Port, Padding: uint32(t.Padding),
		Timeout: control.IntervalOf(t.Timeout), TypeP: control.DSCPType(t.DSCP)}
	if m&control.ReflectOctets != 0 {
		binary.BigEndian.PutUint16(r.Rest[2:], uint16(t.Reflect))
	}
	return r
}

// termsOf are what a request asks for in a mode; supported is false where nothing here could do it, whatever its limits.
func termsOf(r control.Request, m control.Mode) (t Terms, supported bool) {
	dscp, known := r.TypeP.DSCP()
	if !known || r.Padding > mostPadding || r.Timeout > control.IntervalOf(mostTimeout) || r.ServerSends || r.ServerReceives || r.Slots != 0 ||
		r.Packets != 0 {
		return t, false
	}
	t = Terms{Port: r.SenderPort, Padding: int(r.Padding), DSCP: dscp, Timeout: r.Timeout.Duration()}
	if m&control.ReflectOctets != 0 {
		t.Reflect = int(binary.BigEndian.Uint16(r.Rest[2:]))
	}
	return t, t.Validate(m) == nil
}
