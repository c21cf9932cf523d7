// Package reach finds out whether two hosts reach fresh ports of each other, over TCP and UDP: ports that were opened for this alone.
//
// A caller asks a responder over a TCP connection, which shows that the caller has the address that it asks from. Each end then connects, and sends a
// few datagrams, to fresh ports of the other. Messages on the first connection are JSON, a line each:
//
//	caller                                              responder
//	  {"schema":"pathwise.reach/1","tcp":40001,"udp":40002}    ->             its fresh ports
//	                 <-   {"cookie":"6f…","seen":"192.0.2.7:51000","tcp":40101,"udp":40102}
//	  {"cookie":"6f…"}                                         ->             it has heard the cookie
//	                 <==  a connection to 192.0.2.7:40001, datagrams to 192.0.2.7:40002
//	  a connection to port 40101, datagrams to port 40102      ==>
//	  {"cookie":"6f…","done":true}                             ->             it has tried
//	                 <-   what the responder saw: outcomes of what it sent, and what came
//
// What is said on fresh ports, and answered there, are words of the cookie (see word), another one for each place: whoever accepts connections on the
// way in a host's name does not know them, and nothing is mistaken for its own echo.
//
// A responder sends to no address but the caller's, nothing before it heard the cookie from there, and then one connection and at most three datagrams
// each way. It refuses ports below 1024, which are those of services.
//
// This file and verdict.go hold the format and what it means, and open nothing; fresh_linux.go opens ports and tries them; caller.go and responder.go talk.
package reach

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
)

// Schema is of the first message. A responder of another version refuses it.
const Schema = "pathwise.reach/1"

const (
	// mostLine is more than any message is long, in bytes.
	mostLine = 2048
	// leastPort is the first that a program needs no right for: services of a host are mostly below.
	leastPort = 1024
)

// Times of a test.
const (
	// openTimeout is how long a connection may take to open: the kernel sends SYNs at 0 and 1 s (RFC 6298, 2.1).
	openTimeout = 2 * time.Second
	// wordTimeout is how long an answer may take on an open connection, and after the last datagram.
	wordTimeout = 1 * time.Second
	// datagramGap lies between datagrams, so that a queue that is full for a moment does not take all.
	datagramGap = 300 * time.Millisecond
	datagrams   = 3
	// Longest is what a test takes at the most: that of either end, and the messages about it.
	Longest = 10 * time.Second
)

// hello is a caller's first message: its fresh ports.
type hello struct {
	Schema string `json:"schema"`
	TCP    int    `json:"tcp"`
	UDP    int    `json:"udp"`
}

// offer is the responder's answer to it, or why there is none.
type offer struct {
	Cookie string `json:"cookie,omitempty"`
	Seen   string `json:"seen,omitempty"`
	TCP    int    `json:"tcp,omitempty"`
	UDP    int    `json:"udp,omitempty"`
	Error  string `json:"error,omitempty"`
}

// ready says that the caller heard the cookie, and later that it has tried all.
type ready struct {
	Cookie string `json:"cookie"`
	Done   bool   `json:"done,omitempty"`
}

// report is what one end saw.
type report struct {
	Sent trySent `json:"sent"`
	Came tryCame `json:"came"`
}

type trySent struct {
	TCP measure.ReachSent `json:"tcp"`
	UDP measure.ReachSent `json:"udp"`
}

type tryCame struct {
	TCP measure.ReachCame `json:"tcp"`
	UDP measure.ReachCame `json:"udp"`
}

func readHello(line []byte) (h hello, err error) {
	if err := document.JSON(line, mostLine, &h); err != nil {
		return h, fmt.Errorf("read request: %w", err)
	}
	if h.Schema != Schema {
		return h, fmt.Errorf("schema %q: want %s", h.Schema, Schema)
	}
	return h, errors.Join(checkFresh("tcp", h.TCP), checkFresh("udp", h.UDP))
}

func readOffer(line []byte) (o offer, err error) {
	if err := document.JSON(line, mostLine, &o); err != nil {
		return o, fmt.Errorf("read answer: %w", err)
	}
	if o.Error != "" {
		return o, fmt.Errorf("the responder says: %s", jsonlines.Printable(o.Error))
	}
	_, err = netip.ParseAddrPort(o.Seen)
	return o, errors.Join(jsonlines.CheckCookie(o.Cookie), err, checkFresh("tcp", o.TCP), checkFresh("udp", o.UDP))
}

func readReady(line []byte, cookie string) (r ready, err error) {
	if err := document.JSON(line, mostLine, &r); err != nil {
		return r, fmt.Errorf("read message: %w", err)
	}
	if r.Cookie != cookie {
		return r, errors.New("another cookie than was told")
	}
	return r, nil
}

func readReport(line []byte) (r report, err error) {
	if err := document.JSON(line, mostLine, &r); err != nil {
		return r, fmt.Errorf("read report: %w", err)
	}
	return r, errors.Join(checkSent(&r.Sent.TCP), checkSent(&r.Sent.UDP), checkCame(r.Came.TCP), checkCame(r.Came.UDP))
}

func checkFresh(name string, port int) error {
	if port < leastPort || port > 65535 {
		return fmt.Errorf("%s port %d: want a fresh one, of %d to 65535", name, port, leastPort)
	}
	return nil
}

// checkSent also takes out of texts what a terminal would obey.
func checkSent(s *measure.ReachSent) error {
	s.Reason = jsonlines.Printable(s.Reason)
	known := []string{"", measure.PortOpen, measure.PortRefused, measure.PortUnreachable, measure.PortSilent, measure.PortForbidden}
	if !slices.Contains(known, s.Outcome) {
		return fmt.Errorf("outcome %q: want one of %s", jsonlines.Printable(s.Outcome), strings.Join(known[1:], ", "))
	}
	if s.By == "" {
		return nil
	}
	_, err := netip.ParseAddr(s.By)
	return err
}

func checkCame(c measure.ReachCame) error {
	if c.Right < 0 || c.Wrong < 0 {
		return fmt.Errorf("%d and %d came: want none or more", c.Right, c.Wrong)
	}
	if c.From == "" {
		return nil
	}
	_, err := netip.ParseAddrPort(c.From)
	return err
}

// Parts of what is said on a fresh port.
const (
	asks    = "asks"
	answers = "answers"
)

// wordBytes is how long a word is.
const wordBytes = len(Schema) + 1 + 2*sha256.Size + 1

// word is what is said on a fresh port. to is whose port it is, here being the caller's; part is asks of who connects, answers of who listens.
func word(cookie, protocol, to, part string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{cookie, protocol, to, part}, "\n")))
	return Schema + " " + hex.EncodeToString(sum[:]) + "\n"
}
