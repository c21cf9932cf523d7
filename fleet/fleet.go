// Package fleet carries what the controller and its agents say to each other: plans and orders out, Results and status
// back.
//
// It moves messages, proves who sent them and loses none that were promised. It plans nothing, measures nothing and files
// nothing: packages schedule, agent and archive do. Both ways to reach a host speak the same protocol, NATS: an agent
// dials the controller's server (or an outside cluster), or the controller starts the agent over SSH and carries the
// same bytes through that channel.
//
//	controller                                                    agent of host H
//	  Plan, signed  --> pathwise.plan.H, and again when asked ---> Handler.Plan      kept on disk, done without the controller
//	  Order, signed --> request pathwise.order.H ---------------> Handler.Order     at once, answered
//	  Filed         <-- pathwise.result.H <---------------------- Deliver           from the agent's spool, until Filed names it
//	  archived      --> pathwise.filed.H -----------------------> Handler.Filed     the spool forgets it
//	  Status        <-- pathwise.status.H <---------------------- Report            every StatusEvery
//	  Progress      <-- pathwise.live.H.RUN <-------------------- Live              while somebody watches
//
// An agent's key lets it publish as its own host only, and read what is meant for it. A plan or order counts only with
// the controller's signature, so that not even who holds the server can make a host send.
package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Plan is what one host is to do, on its own, until further notice. A newer one replaces it whole; runs that began go on.
//
// A host that hears of no newer one by Until repeats it, moved by the length of From to Until, again and again: since all
// hosts do so alike, no test meets another, and a mesh goes on without its controller (measure.Run.Again, Opening.Again).
type Plan struct {
	Host   string        `json:"host"`
	Number uint64        `json:"number"` // grows with each plan of the controller; an agent ignores one that is not newer
	Issued time.Time     `json:"issued"`
	From   time.Time     `json:"from"`  // of the times planned: From and Until are the same in the plans of all hosts
	Until  time.Time     `json:"until"` // beyond which nothing is planned yet
	Runs   []measure.Run `json:"runs"`  // that this host does, as their source
	Opens  []Opening     `json:"opens"` // that this host answers, as their target
	Unread []Unread      `json:"-"`     // of a plan that was read: the runs that could not be
}

// Opening is what a host opens for one Run of which it is the target.
type Opening struct {
	Run       string            `json:"run"`
	Source    string            `json:"source"` // name of the host that will come
	From      time.Time         `json:"from"`
	Until     time.Time         `json:"until"` // closed then, whatever goes on
	Peer      string            `json:"peer"`  // address that may come; "" if that is not known, as behind a NAT
	Responder measure.Responder `json:"far"`
}

// Again returns the opening for the n-th repetition of its run, after it.
func (o Opening) Again(n int, after time.Duration) Opening {
	o.Run, o.From, o.Until = measure.IDAgain(o.Run, n, after), o.From.Add(after), o.Until.Add(after)
	o.Responder.Secret = measure.SecretAgain(o.Responder.Secret, n)
	return o
}

// Order is one thing to be done now. Exactly one field is set.
type Order struct {
	Run    *measure.Run `json:"run,omitempty"`    // begin it at its Start, or now if that is past
	Open   *Opening     `json:"open,omitempty"`   // answered when it is open
	Cancel string       `json:"cancel,omitempty"` // the ID of a run to end, or an opening to close
}

// Status is what an agent says of itself.
type Status struct {
	Host     string              `json:"host"`
	At       time.Time           `json:"at"`
	Version  string              `json:"version"`
	Platform string              `json:"platform"`      // GOOS/GOARCH
	Can      *Abilities          `json:"can,omitempty"` // nil: of a build before this was said; see Abilities
	Plan     uint64              `json:"plan"`          // number of the plan it holds
	Running  []string            `json:"running"`       // IDs of runs
	Open     []string            `json:"open"`          // IDs of runs that it holds something open for
	Spooled  int                 `json:"spooled"`       // Results not yet known to be filed
	Clock    measure.Clock       `json:"clock"`
	Lacks    []MissingCapability `json:"lacks"` // what it cannot or may not do
}

// MissingCapability is something that a host cannot do, or that its owner forbids.
type MissingCapability struct {
	Kind string `json:"kind,omitempty"` // of Task, or its Tasks with a value of a parameter, such as "ping proto=icmp"; "" for all
	What string `json:"what"`           // such as "ipv6", "raw-sockets", "program bbcp", "target"
	Why  string `json:"why"`
}

// StatusEvery is how often an agent reports: a host is called away after three that did not come, within half a minute.
const StatusEvery = 10 * time.Second

// Progress is one thing that a run on demand shows on its way: an interval, a reply, rounds of a trace so far, or the line that a program printed.
type Progress struct {
	Run      string                `json:"run"`
	Interval *measure.Interval     `json:"interval,omitempty"`
	Echo     *measure.Echo         `json:"echo,omitempty"`
	Rounds   *measure.RoundsSample `json:"rounds,omitempty"`
	Line     string                `json:"line,omitempty"`
	Result   *measure.Result       `json:"result,omitempty"` // the last one
}

// Handler is the agent: what a Link calls. Its methods are called one at a time and return soon.
type Handler interface {
	// Plan takes a plan whose signature and host are right.
	Plan(ctx context.Context, p Plan) error
	// Order takes an order whose signature is right. The error goes back to who gave it.
	Order(ctx context.Context, o Order) error
	// Filed says that the archive has these Results on disk.
	Filed(ctx context.Context, ids []string) error
}

// Link is an agent's end.
type Link interface {
	// Serve connects, and connects again whenever that is lost, and calls h until ctx ends. It returns before only where
	// trying again cannot help: a key that the server refuses.
	Serve(ctx context.Context, h Handler) error
	// Deliver hands Results over. A nil error says that they are on their way, not that they are filed: keep them until
	// Handler.Filed names them, and deliver again what was not named for a while.
	Deliver(ctx context.Context, results []*measure.Result) error
	// Report tells the controller how this host is. It is lost if nobody is there.
	Report(ctx context.Context, s Status) error
	// Live shows what a run does now. It is lost if nobody watches.
	Live(ctx context.Context, p Progress) error
}

// Receiver is the controller: what a Hub calls.
type Receiver interface {
	// File takes Results of an agent and returns when they are on disk. What it returned nil for is acknowledged; after
	// an error they come again. A Result may come twice: File knows it by its ID.
	File(ctx context.Context, host string, results []*measure.Result) error
	// Heard takes an agent's status.
	Heard(s Status)
}

// Hub is the controller's end.
type Hub interface {
	// Serve calls r until ctx ends.
	Serve(ctx context.Context, r Receiver) error
	// Plan gives a host a plan, which it gets now or when it comes back.
	Plan(ctx context.Context, p Plan) error
	// Order tells a host to do something now, and returns what it answered: ErrAway if it is not there, a *Refusal if it
	// would not.
	Order(ctx context.Context, host string, o Order) error
	// Watch calls each for what a run shows on its way, until ctx ends or the run's last Progress, which has the Result.
	// ready, if not nil, is closed when nothing more can be missed.
	Watch(ctx context.Context, host, run string, ready chan<- struct{}, each func(Progress)) error
}

// ErrAway says that the other end is not connected, so nothing was sent.
var ErrAway = errors.New("away: not connected")

// ErrNoAnswer says that an order was sent and nothing came back in time: whether it was done is not known.
var ErrNoAnswer = errors.New("no answer")

// ErrBehind says that the controller has too much of this host's, or of all, waiting for its archive: deliver again later.
var ErrBehind = errors.New("the controller is behind: results wait for its archive")

// ErrKeyRefused says that the server knows no such key: it was withdrawn, or a newer one was made for the host.
var ErrKeyRefused = errors.New("the controller refuses this host's key: deploy the host again")

// Refusal is the answer of a host that got an order and would not do it.
type Refusal struct{ Host, Why string }

func (r *Refusal) Error() string { return fmt.Sprintf("%s refused: %s", r.Host, r.Why) }

// tally counts what outsiders can cause at will, and logs it sparsely: the 1st, 2nd, 4th, 8th and so on, so that nobody
// fills a disk with our log.
type tally struct{ n atomic.Uint64 }

func (t *tally) log(to *slog.Logger, text string, args ...any) {
	if n := t.n.Add(1); n&(n-1) == 0 {
		to.Warn(text, append(args, "so_far", n)...)
	}
}

// Unread is a run of a plan that this build cannot read, as one of a newer controller may be.
type Unread struct {
	Run measure.Run // as far as it could be read
	Why error
}

// UnmarshalJSON reads a plan. A run that this build cannot read goes to Unread, and an opening that it cannot read is left out; the
// rest of the plan holds.
func (p *Plan) UnmarshalJSON(data []byte) error {
	type plain Plan // has no methods
	if json.Unmarshal(data, (*plain)(p)) == nil {
		return nil
	}
	*p = Plan{}
	parts := struct {
		*plain
		Runs  []json.RawMessage `json:"runs"`
		Opens []json.RawMessage `json:"opens"`
	}{plain: (*plain)(p)}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, text := range parts.Runs {
		var r measure.Run
		if err := json.Unmarshal(text, &r); err != nil {
			p.Unread = append(p.Unread, Unread{r, fmt.Errorf("%w: %w", errNotRead, err)})
			continue
		}
		p.Runs = append(p.Runs, r)
	}
	for _, text := range parts.Opens {
		var o Opening
		if json.Unmarshal(text, &o) == nil {
			p.Opens = append(p.Opens, o)
		}
	}
	return nil
}

var errNotRead = errors.New("this agent's build cannot read it; its controller may be newer")
