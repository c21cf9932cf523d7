// Package flows is the protocol of `pathwise flows`: numbered datagrams of several flows, and the account of them that their receiver gives.
//
// A test has a control connection over TCP, and datagrams to the same port over UDP, each flow from a port of its own. All numbers are in network
// byte order.
//
//	client                                          server
//	hello: secret, terms                       ->
//	                                           <-   welcome: go ahead, and the number of the test; or why not
//	datagrams, as the script has them         =>
//	beat, each second                          ->
//	                                           <-   so far: what came of each flow, each second
//	end: what was sent of each flow            ->
//	                                           <-   so far, while late datagrams may still come
//	                                           <-   account of each flow
//
// Whoever hears nothing from the other end for PeerTimeout takes it for gone: the server ends the test, the client stops sending and reports what
// it knows. A datagram counts if it has the test's number, which nobody else knows, comes from the address of the control connection, and is of a
// flow and of a place in it that the terms have; others are counted and do not enter. Nothing is ever sent to an address without a connection.
//
// Wire.go and account.go hold the format and open nothing; server.go and client.go talk.
package flows

import (
	"bytes"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
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
	headerBytes  = traffic.LeastBytes

	// SecretBytes is how long a secret is: as that of the other responders.
	SecretBytes = 36

	numberBytes = 16
)

// mostLinger is how long a server may be asked to wait for late datagrams.
const mostLinger = 60 * time.Second

var (
	magic       = []byte("PWflows1") // the last is the version
	beatMark    = []byte("PWfbeat1")
	endMark     = []byte("PWfend.1")
	soFarMark   = []byte("PWfsofr1")
	accountMark = []byte("PWfacct1")
)

// Sentinels for errors.Is. Beside them there are those of package endpoint.
var (
	// ErrBusy: the responder makes as many tests as it may, or does not know the secret.
	ErrBusy    = errors.New("the responder is busy with other tests; try again later")
	errForeign = errors.New("the far end does not speak this protocol: is it a Pathwise responder?")
)

// TooMuchError is a test that asks for more than the responder allows.
type TooMuchError struct{ Asked, Allowed Ask }

func (e *TooMuchError) Error() string {
	return fmt.Sprintf("a script of %v, %d packets and up to %.3g Mbit/s was refused: the responder lets one have %v, %d packets and %.3g Mbit/s",
		e.Asked.Longest, e.Asked.Packets, e.Asked.Rate/1e6, e.Allowed.Longest, e.Allowed.Packets, e.Allowed.Rate/1e6)
}

// Ask is how much a test is.
type Ask struct {
	Longest time.Duration // from its beginning to its account
	Packets int
	Rate    float64 // bit/s, the most in any second
}

// within reports whether a test is no more than another.
func (a Ask) within(limit Ask) bool {
	return a.Longest <= limit.Longest && a.Packets <= limit.Packets && a.Rate <= limit.Rate
}

// Terms are what a client is about to do, and no more than that.
type Terms struct {
	Longest time.Duration
	Linger  time.Duration // that late datagrams are waited for, after the last was sent
	Rate    float64       // bit/s, the most in any second
	Flows   []traffic.FlowLoad
}

func (t Terms) ask() Ask {
	a := Ask{Longest: t.Longest, Rate: t.Rate}
	for _, f := range t.Flows {
		a.Packets += f.Packets
	}
	return a
}

// Validate reports the first of the terms that cannot be, as an error of package input.
func (t Terms) Validate() error {
	switch {
	case len(t.Flows) < 1 || len(t.Flows) > traffic.MostFlows:
		return input.Errorf("flows %d: want 1 to %d", len(t.Flows), traffic.MostFlows)
	case t.Longest < time.Millisecond || t.Longest > traffic.MostTime+mostLinger+time.Minute:
		return input.Errorf("time %v: want 1ms to %v", t.Longest, traffic.MostTime)
	case t.Linger < 0 || t.Linger > mostLinger:
		return input.Errorf("linger %v: want 0 to %v", t.Linger, mostLinger)
	case t.ask().Packets > traffic.MostPackets:
		return input.Errorf("packets %d: want at most %d", t.ask().Packets, traffic.MostPackets)
	}
	return nil
}

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

// 0 magic | 8 secret | 44 flows:16 | 46 zero | 48 longest, ms | 52 linger, ms | 56 rate, bit/s:64 | 64 zero
// of each flow: packets:32 | bytes:64
func encodeHello(secret string, t Terms) []byte {
	b := make([]byte, helloBytes, helloBytes+termBytes*len(t.Flows))
	copy(b, magic)
	copy(b[8:8+SecretBytes], secret)
	binary.BigEndian.PutUint16(b[44:], uint16(len(t.Flows)))
	binary.BigEndian.PutUint32(b[48:], uint32(t.Longest.Milliseconds()))
	binary.BigEndian.PutUint32(b[52:], uint32(t.Linger.Milliseconds()))
	binary.BigEndian.PutUint64(b[56:], uint64(t.Rate))
	for _, f := range t.Flows {
		b = binary.BigEndian.AppendUint32(b, uint32(f.Packets))
		b = binary.BigEndian.AppendUint64(b, uint64(f.Bytes))
	}
	return b
}

// flowsOf is how many flows a hello has, whose terms follow it; 0: it is none of this protocol, or has too many.
func flowsOf(hello []byte) int {
	n := int(binary.BigEndian.Uint16(hello[44:]))
	if !bytes.HasPrefix(hello, magic) || n > traffic.MostFlows {
		return 0
	}
	return n
}

func decodeHello(b, flows []byte) (secret string, t Terms, err error) {
	t = Terms{Longest: time.Duration(binary.BigEndian.Uint32(b[48:])) * time.Millisecond,
		Linger: time.Duration(binary.BigEndian.Uint32(b[52:])) * time.Millisecond, Rate: float64(binary.BigEndian.Uint64(b[56:]))}
	for ; len(flows) >= termBytes; flows = flows[termBytes:] {
		t.Flows = append(t.Flows, traffic.FlowLoad{Packets: int(binary.BigEndian.Uint32(flows)), Bytes: int64(binary.BigEndian.Uint64(flows[4:]))})
	}
	return string(bytes.TrimRight(b[8:8+SecretBytes], "\x00")), t, t.Validate()
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
	seq    uint32 // its place among those of its flow that were sent
	sent   int64  // by the wall clock of its sender, ns since 1970
}

// 0 number | 16 flow:16 | 18 dscp:8 | 19 zero | 20 seq:32 | 24 sent:64
func (d datagram) encode(into []byte) {
	copy(into, d.number[:])
	binary.BigEndian.PutUint16(into[16:], uint16(d.flow))
	into[18], into[19] = byte(d.dscp), 0
	binary.BigEndian.PutUint32(into[20:], d.seq)
	binary.BigEndian.PutUint64(into[24:], uint64(d.sent))
}

// decodeDatagram reads headerBytes.
func decodeDatagram(b []byte) datagram {
	return datagram{number: number(b[:numberBytes]), flow: int(binary.BigEndian.Uint16(b[16:])), dscp: int(b[18]),
		seq: binary.BigEndian.Uint32(b[20:]), sent: int64(binary.BigEndian.Uint64(b[24:]))}
}
