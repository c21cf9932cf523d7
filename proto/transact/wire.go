// Package transact is the protocol of `pathwise transact`: requests and answers over TCP, of sizes that both ends agreed on before.
//
// A test has a control connection, on which the client says what it is about to do and the server lets it, or not; then as many
// connections as the client likes, one after the other, each with exchanges on it; and at last the server's account on the control
// connection. All numbers are in network byte order.
//
//	client                                      server
//	hello: secret, terms                   ->
//	                                       <-   welcome: go ahead, and the number of the test; or why not
//	on connections of their own:
//	request: number, sizes, padding        ->
//	                                       <-   answer: padding
//	...
//	on the control connection again:
//	end                                    ->
//	                                       <-   account
//
// It is no amplifier. An answer goes to who has completed two handshakes of TCP from one address and knows the test's number, has the size
// that was agreed on, and comes as often as was agreed on at the most. Wire.go and errors.go hold the format and open nothing; server.go
// and client.go talk.
package transact

import (
	"bytes"
	"crypto/subtle"
	"encoding/binary"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// DefaultPort is where a responder answers if nothing else is said: the port is of nobody (IANA), and beside those of iperf3.
const DefaultPort = 5213

// Sizes of the parts of the protocol, in bytes.
const (
	helloBytes   = 64
	welcomeBytes = 32
	endBytes     = 8
	accountBytes = 56

	// RequestHeader is what the least request has.
	RequestHeader = 24
	// SecretBytes is the length of the secret by which a responder and its clients know each other.
	SecretBytes = 36

	numberBytes = 16
)

// What one test may ask for at the most, whoever asks.
const (
	// MostBytes of a request or an answer are what programs send as one message and not as a file.
	MostBytes = 16 << 20
	// MostExchanges of a test: a day of one each second.
	MostExchanges = 86_400
	// mostTime fits the milliseconds of a hello.
	mostTime = 24 * time.Hour
)

var (
	magic    = []byte("PWtrans1") // the last is the version
	endMagic = []byte("PWend..1")
)

// Terms are what a client is about to do, and no more than that.
type Terms struct {
	Exchanges       int           // over all connections
	Request, Answer int           // bytes of each; a request has RequestHeader at least, an answer 1
	Longest         time.Duration // the test may take
	Acks            Acks          // when the responder acknowledges a part of a request
}

// Validate reports the first of the terms that cannot be, as an error of package input.
func (t Terms) Validate() error {
	for _, c := range []struct {
		name           string
		is, low, above int
	}{
		{"exchanges", t.Exchanges, 1, MostExchanges}, {"request", t.Request, RequestHeader, MostBytes}, {"answer", t.Answer, 1, MostBytes},
	} {
		if c.is < c.low || c.is > c.above {
			return input.Errorf("%s %d: want %d to %d", c.name, c.is, c.low, c.above)
		}
	}
	if t.Longest < time.Millisecond || t.Longest > mostTime {
		return input.Errorf("time %v: want 1ms to %v", t.Longest, mostTime)
	}
	if t.Acks > AcksDelayed {
		return input.Errorf("acks %d: want 0 to %d", t.Acks, AcksDelayed)
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

// hello opens a control connection. The secret is empty where the client has none.
type hello struct {
	secret string
	terms  Terms
}

// 0 magic | 8 secret | 44 exchanges | 48 request | 52 answer | 56 longest, ms | 60 acks | 61 zero
func (h hello) encode() []byte {
	b := make([]byte, helloBytes)
	copy(b, magic)
	copy(b[8:8+SecretBytes], h.secret)
	binary.BigEndian.PutUint32(b[44:], uint32(h.terms.Exchanges))
	binary.BigEndian.PutUint32(b[48:], uint32(h.terms.Request))
	binary.BigEndian.PutUint32(b[52:], uint32(h.terms.Answer))
	binary.BigEndian.PutUint32(b[56:], uint32(h.terms.Longest.Milliseconds()))
	b[60] = byte(h.terms.Acks)
	return b
}

// isHello reports whether what opens a connection is a hello. A test's number, which opens others, never looks like one.
func isHello(first []byte) bool { return bytes.HasPrefix(first, magic) }

func decodeHello(b []byte) (hello, error) {
	h := hello{secret: string(bytes.TrimRight(b[8:8+SecretBytes], "\x00")), terms: Terms{
		Exchanges: int(binary.BigEndian.Uint32(b[44:])),
		Request:   int(binary.BigEndian.Uint32(b[48:])), Answer: int(binary.BigEndian.Uint32(b[52:])),
		Longest: time.Duration(binary.BigEndian.Uint32(b[56:])) * time.Millisecond,
		Acks:    Acks(b[60]),
	}}
	return h, h.terms.Validate()
}

// sameSecret compares in a time that tells nothing of where they differ.
func sameSecret(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// number tells one test from others: each request of a test begins with it.
type number [numberBytes]byte

// verdict is what a server says to a hello.
type verdict byte

const (
	goAhead verdict = 1
	busy    verdict = 2
	tooLong verdict = 3
	unclear verdict = 4 // the hello cannot be
)

// welcome answers a hello. longest is of tooLong: what the server would let a test take. acks are those that the server keeps to: a
// server that knows nothing of them says 0.
type welcome struct {
	verdict verdict
	acks    Acks
	number  number
	longest time.Duration
}

// 0 magic | 8 verdict | 9 acks | 10 zero | 12 longest, ms | 16 number
func (w welcome) encode() []byte {
	b := make([]byte, welcomeBytes)
	copy(b, magic)
	b[8], b[9] = byte(w.verdict), byte(w.acks)
	binary.BigEndian.PutUint32(b[12:], uint32(w.longest.Milliseconds()))
	copy(b[16:], w.number[:])
	return b
}

func decodeWelcome(b []byte) (w welcome, err error) {
	if !isHello(b) {
		return w, errForeign
	}
	w.verdict, w.acks, w.number = verdict(b[8]), Acks(b[9]), number(b[16:welcomeBytes])
	w.longest = time.Duration(binary.BigEndian.Uint32(b[12:])) * time.Millisecond
	return w, nil
}

// 0 number | 16 bytes of the request, these included | 20 bytes of the answer
func encodeRequest(into []byte, n number, answer int) {
	copy(into, n[:])
	binary.BigEndian.PutUint32(into[16:], uint32(len(into)))
	binary.BigEndian.PutUint32(into[20:], uint32(answer))
}

func decodeRequest(b []byte) (n number, request, answer int) {
	return number(b[:numberBytes]), int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
}

// Account is what a server saw of a test.
type Account struct {
	Exchanges int // that it answered

	// From the first byte of a request to its last, on the average and at the most.
	GatherMean, GatherMost time.Duration
	// From the last byte of a request until the kernel had the answer.
	AnswerMean, AnswerMost time.Duration

	Retransmits uint64 // segments that its kernel sent again, by TCP_INFO
}

// 0 magic | 8 exchanges | 16 gather, mean, ns | 24 most | 32 answer, mean | 40 most | 48 retransmits
func (a Account) encode() []byte {
	b := make([]byte, accountBytes)
	copy(b, magic)
	for i, v := range []uint64{uint64(a.Exchanges), uint64(a.GatherMean), uint64(a.GatherMost), uint64(a.AnswerMean), uint64(a.AnswerMost),
		a.Retransmits} {
		binary.BigEndian.PutUint64(b[8+8*i:], v)
	}
	return b
}

func decodeAccount(b []byte) (a Account, err error) {
	if !isHello(b) {
		return a, errForeign
	}
	var v [6]uint64
	for i := range v {
		v[i] = binary.BigEndian.Uint64(b[8+8*i:])
		if v[i] > uint64(mostTime) { // which every number of an account is below, whatever its unit
			return a, errForeign
		}
	}
	return Account{Exchanges: int(v[0]), GatherMean: time.Duration(v[1]), GatherMost: time.Duration(v[2]), AnswerMean: time.Duration(v[3]),
		AnswerMost: time.Duration(v[4]), Retransmits: v[5]}, nil
}
