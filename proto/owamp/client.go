package owamp

import (
	"context"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// Client makes tests with an OWAMP server. The zero value makes tests in open mode.
type Client struct {
	// Mode is how connection and packets are protected; 0: as well as the server offers where there is a secret, else not at all. Whoever is
	// on the path can make a client that leaves it open choose the open mode.
	Mode    control.Mode
	KeyID   string // names the secret
	Secret  []byte
	Timeout time.Duration // for the connection, and for each message on it; 0: 5 s
	Clock   endpoint.Clock
}

const (
	// startLead is how long a server may take, beside some round trips, until it can send: the deployed one makes a process for each session.
	startLead  = 100 * time.Millisecond
	startTrips = 4
)

// linger is how much later than all packets a duplicate may come, or than the word of the session's end a packet that was sent before it: what their delays
// differ by, and what a busy host takes to turn to them.
const linger = 20 * time.Millisecond

// Plan is what one test measures: one way, or both at once.
//
// OnForward and OnRecord, where they are not nil, are told of each packet that came, the copies of it too, once each and never of a lost one.
// Goroutines of the test call them, one call at a time for both together and none after Measure returned; a slow one delays the other.
// When Measure returns without an error, all records of the Report were told but those of lost packets; of an early end, perhaps some more that
// the Report leaves out.
type Plan struct {
	Forward, Reverse *Terms          // packets to the server, and from there; nil: none
	Stop             <-chan struct{} // ends the test early, which then has what came so far; nil: nothing does
	// OnForward is told of packets to the server, each half second of those that are new there. For that they are fetched on a second
	// connection while the test runs. A server that refuses it is asked at the end alone, and all are told then.
	OnForward func(Record)
	// OnRecord is told of packets from the server as they come.
	OnRecord func(Record)
}

// Report is what one test measured.
type Report struct {
	Mode             control.Mode
	Local, Remote    netip.AddrPort // of the control connection
	Forward, Reverse *Session
	Skipped          int                 // packets that this end should have sent and did not, too late or in vain
	SendError        error               // why the last of them could not be sent; nil: they were late
	Left             []control.Timestamp // of forward packets, by number: when this host's kernel says that they left; 0 where it does not
}

// Measure makes one test at the first of some addresses that answers. Where ctx ends after the test began, or the server is lost, the Report
// beside the error has what was known by then: of forward packets what OnForward was told. Sessions whose end is not known are not Finished.
func (c Client) Measure(ctx context.Context, ends []netip.AddrPort, p Plan) (*Report, error) {
	for _, terms := range []*Terms{p.Forward, p.Reverse} {
		if terms != nil {
			if err := terms.Validate(); err != nil {
				return nil, err
			}
		}
	}
	t, err := c.connect(ctx, ends)
	if err != nil {
		return nil, err
	}
	defer t.close()
	r, err := t.measure(p)
	return r, endpoint.Explain(ctx, err)
}

// Fetch asks a server for the records of a session that it received, by ID and the first and the last number of its packets.
func (c Client) Fetch(ctx context.Context, ends []netip.AddrPort, id control.SID, first, last uint32) (*Session, error) {
	t, err := c.connect(ctx, ends)
	if err != nil {
		return nil, err
	}
	defer t.close()
	s, err := t.fetch(fetch{first, last, id})
	return s, endpoint.Explain(ctx, err)
}

// test is a control connection of a client.
type test struct {
	Client
	*endpoint.Link
	ctx   context.Context
	parts parts
}

func (c Client) connect(ctx context.Context, ends []netip.AddrPort) (*test, error) {
	link, err := endpoint.Client{Mode: c.Mode, KeyID: c.KeyID, Secret: c.Secret, Timeout: c.Timeout}.Connect(ctx, ends, Modes, 0)
	if err != nil {
		return nil, err
	}
	return &test{Client: c, Link: link, ctx: ctx}, nil
}

func (t *test) close() {
	t.Close()
	t.parts.halt()
	t.parts.close()
}
