// Package flows is the protocol of `pathwise flows`: numbered datagrams of several flows, and the account of them that their receiver gives.
//
// A test has a control connection over TCP, and datagrams to the same port over UDP, each flow from a port of its own. All numbers are in network
// byte order.
//
//	client                                          server
//	hello: secret, terms, script               ->
//	                                           <-   welcome: go ahead, and the number of the test; or why not
//	knocks: a datagram of each flow that       =>
//	the server is to send, until it says open
//	                                           <-   open: it knows the port of each of them
//	datagrams, as the script has them         <=>   those that the script has in reverse
//	beat, each second                          ->
//	                                           <-   so far: what came of each flow, each second
//	                                           <-   sent: what was sent of each flow in reverse
//	end: what was sent of each flow            ->
//	                                           <-   so far, while late datagrams may still come
//	                                           <-   account of each flow
//
// The script, knocks, open and sent are there only where the script has flows in reverse. A knock tells the server the port that a flow goes to, and
// opens firewalls and address translators on the way, as the server's datagrams come from the port that the knock went to.
//
// Whoever hears nothing from the other end for PeerTimeout takes it for gone: the server ends the test, the client stops sending and reports what
// it knows. A datagram counts if it has the test's number, which nobody else knows, comes from the address of the control connection, and is of a
// flow and of a place in it that the terms have; others are counted and do not enter. A server sends to the address of a control connection alone.
//
// Wire.go, terms.go and account.go hold the format and open nothing; server.go and client.go talk.
package flows

import (
	"bytes"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/traffic"
)

// DefaultPort is where a responder answers if nothing else is said: the port is of nobody (IANA), and beside those of the other responders.
const DefaultPort = 5214

// PeerTimeout is how long the other end may be silent on the control connection, on which it says something each second: TCP sends a lost segment
// again some times within it, also on a path that the datagrams fill.
const PeerTimeout = 10 * time.Second

// beatEvery is how often both ends say that they are there.
const beatEvery = time.Second

// Sizes of the parts of the protocol, in bytes.
const (
	helloBytes   = 72
	termBytes    = 12 // of each flow behind a hello
	welcomeBytes = 48
	markBytes    = 8
	soFarBytes   = 16 // of each flow
	sentBytes    = 48 // of each flow in reverse, beside its intervals
	headerBytes  = traffic.LeastBytes

	// SecretBytes is the length of the secret by which a responder and its clients know each other.
	SecretBytes = 36

	numberBytes = 16
)

// mostLinger is how long a server may be asked to wait for late datagrams.
const mostLinger = 60 * time.Second

var (
	magic       = []byte("PWflows1") // the last is the version
	beatMark    = []byte("PWfbeat1")
	openMark    = []byte("PWfopen1")
	sentMark    = []byte("PWfsent1")
	endMark     = []byte("PWfend.1")
	soFarMark   = []byte("PWfsofr1")
	accountMark = []byte("PWfacct1")
)

// Sentinels for errors.Is. Beside them there are those of package endpoint.
var (
	// ErrBusy: the responder makes as many tests as it may, or does not know the secret.
	ErrBusy    = errors.New("the responder is busy with other tests; try again later")
	errForeign = errors.New("the far end does not speak this protocol: is it a Pathwise responder?")
	errOverdue = errors.New("the far end talks on, and gave no account within the time of the test")
)

// CheckSecret says what is wrong with a secret: it has 36 characters that can be printed, of ASCII and without a space.
func CheckSecret(secret string) error {
	if len(secret) != SecretBytes {
		return input.Errorf("secret: %d characters, want %d", len(secret), SecretBytes)
	}
	for _, c := range []byte(secret) {
		if c <= ' ' || c > '~' {
			return input.Errorf("secret: want characters of ASCII that can be printed, without a space")
		}
	}
	return nil
}

// sameSecret compares in a time that tells nothing of where they differ.
func sameSecret(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// number tells one test from others: each datagram begins with it.
type number [numberBytes]byte

// verdict is what a server says to a hello.
type verdict byte

const (
	goAhead verdict = 1
	busy    verdict = 2
	tooMuch verdict = 3
	unclear verdict = 4 // the hello cannot be
)

// welcome answers a hello. allowed is of tooMuch.
type welcome struct {
	verdict verdict
	number  number
	allowed Ask
}

// 0 magic | 8 verdict | 9 zero | 12 longest, ms | 16 number | 32 rate:64 | 40 packets | 44 zero
func (w welcome) encode() []byte {
	b := make([]byte, welcomeBytes)
	copy(b, magic)
	b[8] = byte(w.verdict)
	binary.BigEndian.PutUint32(b[12:], uint32(w.allowed.Longest.Milliseconds()))
	copy(b[16:], w.number[:])
	binary.BigEndian.PutUint64(b[32:], uint64(w.allowed.Rate))
	binary.BigEndian.PutUint32(b[40:], uint32(w.allowed.Packets))
	return b
}

func decodeWelcome(b []byte) (w welcome, err error) {
	if !bytes.HasPrefix(b, magic) {
		return w, errForeign
	}
	w.verdict, w.number = verdict(b[8]), number(b[16:32])
	w.allowed = Ask{Longest: time.Duration(binary.BigEndian.Uint32(b[12:])) * time.Millisecond,
		Rate: float64(binary.BigEndian.Uint64(b[32:])), Packets: int(binary.BigEndian.Uint32(b[40:]))}
	return w, nil
}

// datagram is what stands at the head of each.
type datagram struct {
	number number
	flow   int
	dscp   int    // that it left with
	during int    // the interval of the script in which it was due
	seq    uint32 // its place among those of its flow that were sent
	sent   int64  // by the wall clock of its sender, ns since 1970
}

// 0 number | 16 flow:16 | 18 dscp:8 | 19 interval:8 | 20 seq:32 | 24 sent:64
func (d datagram) encode(into []byte) {
	copy(into, d.number[:])
	binary.BigEndian.PutUint16(into[16:], uint16(d.flow))
	into[18], into[19] = byte(d.dscp), byte(d.during)
	binary.BigEndian.PutUint32(into[20:], d.seq)
	binary.BigEndian.PutUint64(into[24:], uint64(d.sent))
}

// decodeDatagram reads headerBytes.
func decodeDatagram(b []byte) datagram {
	return datagram{number: number(b[:numberBytes]), flow: int(binary.BigEndian.Uint16(b[16:])), dscp: int(b[18]), during: int(b[19]),
		seq: binary.BigEndian.Uint32(b[20:]), sent: int64(binary.BigEndian.Uint64(b[24:]))}
}
