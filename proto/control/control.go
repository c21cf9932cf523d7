// Package control is what the control connections of OWAMP (RFC 4656) and of TWAMP (RFC 5357) have in common: how one is set up in the
// open, the authenticated and the encrypted mode, the two encrypted and authenticated streams of blocks that follow, the messages that
// are alike, the test packets of senders, and the time stamps and error estimates of both protocols and of STAMP. All numbers are in network
// byte order.
//
//	client                                            server
//	                                             <-   Greeting, 64 bytes: modes, challenge, salt, count
//	SetUp, 164 bytes: mode, key ID, token, IV    ->
//	                                             <-   Start, 48 bytes: verdict, IV; from its last block on encrypted
//	requests, blocks of 16 bytes                 ->
//	                                             <-   answers, blocks of 16 bytes
//
// The token proves that the client knows the secret of its key ID: it holds the challenge and the keys of the connection, encrypted with
// a key that both ends derive of the secret (PBKDF2 with HMAC-SHA1, by salt and count). From then on each direction is one AES-CBC chain
// from its end's IV, and one HMAC-SHA1 over the plain text, of which 16 bytes stand at the end of each message or part of one, and which
// then begins anew. In open mode nothing is encrypted, and those 16 bytes are zero.
//
// It opens no socket and sets no deadline: whoever has the connection does. Sessions are of packages owamp and twamp.
package control

import (
	"fmt"
	"math/bits"
)

// Mode is a set of modes, as a greeting offers them: one bit each (RFC 4656, section 3.1; the registry of TWAMP-Modes).
type Mode uint32

// Modes of protection, of which a connection has exactly one.
const (
	Open          Mode = 1
	Authenticated Mode = 2
	Encrypted     Mode = 4
	Mixed         Mode = 8 // RFC 5618, TWAMP alone: the control connection is encrypted, its test packets are open

	protections = Open | Authenticated | Encrypted | Mixed
)

// Additions of TWAMP, which a connection may have beside its mode of protection.
const (
	IndividualControl Mode = 16 // RFC 5938
	ReflectOctets     Mode = 32 // RFC 6038
	SymmetricalSize   Mode = 64 // RFC 6038
)

// Protection is the part of a mode that says how connection and packets are protected.
func (m Mode) Protection() Mode { return m & protections }

// Packets is the mode of protection of test packets, which in the mixed mode are open.
func (m Mode) Packets() Mode {
	if m.Protection() == Mixed {
		return Open
	}
	return m.Protection()
}

// Secured reports whether the control connection is encrypted, which takes a secret.
func (m Mode) Secured() bool { return m&(Authenticated|Encrypted|Mixed) != 0 }

// whole reports whether it has exactly one mode of protection.
func (m Mode) whole() bool { return bits.OnesCount32(uint32(m.Protection())) == 1 }

func (m Mode) String() string {
	switch m.Protection() {
	case Open:
		return "open"
	case Authenticated:
		return "authenticated"
	case Encrypted:
		return "encrypted"
	case Mixed:
		return "mixed"
	}
	return fmt.Sprintf("modes %#x", uint32(m))
}

// Accept is what one end says to what the other asked for (RFC 4656, section 3.3).
type Accept byte

// All that RFC 4656 knows.
const (
	OK          Accept = 0
	Refused     Accept = 1 // for any reason that no other value tells
	Failed      Accept = 2 // inside
	Unsupported Accept = 3
	Never       Accept = 4 // what was asked for is more than is ever there
	Busy        Accept = 5 // it may be there later
)

func (a Accept) String() string {
	switch a {
	case OK:
		return "accepted"
	case Refused:
		return "refused"
	case Failed:
		return "failed inside the server"
	case Unsupported:
		return "not supported"
	case Never:
		return "beyond the server's limits"
	case Busy:
		return "beyond what the server has left now; try again later"
	}
	return fmt.Sprintf("refused with the unknown reason %d", byte(a))
}

// RefusedError is that the far end said no to what was asked for.
type RefusedError struct {
	What   string // that was refused
	Accept Accept
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %v", e.What, e.Accept) }

// Check returns a *RefusedError unless what was asked for was accepted.
func (a Accept) Check(what string) error {
	if a == OK {
		return nil
	}
	return &RefusedError{what, a}
}
