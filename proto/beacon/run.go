package beacon

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/sock"
)

// How often a member tells what it received. While it sends probes that is one packet a second; then it sends one in place of each of ten probes a
// second, so that those who leave first have heard it in time.
const (
	reportEvery = time.Second
	finalEvery  = 100 * time.Millisecond
	// farewells are how often a member tells everything once more when nobody needs it: who misses all of them waits until silence is over.
	farewells = 5
	// idleShare is how many times longer than making figures takes they stand: they take 1/20 of a processor at the most.
	idleShare = 20
)

// Run is a member of the group: it joins, sends its probes, listens, tells what it received, and leaves when all whom it hears have told
// everything and heard the same of the others, or Grace after its last probe. When ctx ends, it tells what it knows by then and leaves; the report is then with the cause as error.
// Any other error, such as an input.Error, is without a report. It is for Linux.
func (c Config) Run(ctx context.Context) (Report, error) {
	if err := c.Validate(); err != nil {
		return Report{}, err
	}
	c = c.withDefaults()
	listener, err := openListener(&c)
	if err != nil {
		return Report{}, err
	}
	defer listener.Close()
	probes, err := openSender(&c)
	if err != nil {
		return Report{}, err
	}
	defer probes.Close()
	if c.Joined != nil {
		c.Joined()
	}
	began := c.Clock.Read()
	r := &run{Config: c, id: ID(c.Rand.Uint64()), began: began, wall: sock.WatchWall(c.Clock.Now), listener: listener,
		to: netip.AddrPortFrom(c.Group, uint16(c.Port))}
	r.roster = newRoster(r.id, began.Add(c.Settle/2))
	return r.do(ctx, probes)
}

// run is one Run. The goroutine of do owns all of it; that of send shares what is behind mu.
type run struct {
	Config
	id       ID
	began    time.Time
	wall     sock.Wall
	listener *sock.Socket
	to       netip.AddrPort
	roster   *roster

	figures ReceiverReport // the present ones, with all blocks
	left    []Block        // of them, those that are still to be told
	next    time.Time      // when the next packet of a report is due, by time.Now
	stands  time.Time      // until when the figures stand
	goodbye int            // how often everything was told since nobody needs more

	mu     sync.Mutex
	first  control.Timestamp // when the first probe was sent, by Clock
	sent   uint32
	unsent int
	done   time.Time // when the last probe was sent, by time.Now; the zero value: not yet
	failed error     // why no probe can be sent
}

func (r *run) do(ctx context.Context, probes *sock.Socket) (Report, error) {
	sending, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, r.listener.Interrupt)()
	var sender sync.WaitGroup
	sender.Go(func() { r.send(sending, probes) })
	err := r.listen(ctx)
	cancel()
	sender.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
		r.judge(time.Now())
		r.leave(probes)
	}
	if err != nil && ctx.Err() == nil {
		return Report{}, err
	}
	return r.report(), err
}

// send sends the probes, from Settle on. One that is later than the next is due is sent at once, and the next an interval later: none come in a burst.
func (r *run) send(ctx context.Context, socket *sock.Socket) {
	defer r.note(func() { r.done = time.Now() })
	p := Probe{Member: r.id, Name: r.Name, Planned: uint32(r.Count), Interval: r.Interval.Truncate(time.Microsecond), TTL: uint8(r.TTL), DSCP: uint8(r.DSCP)}
	due := time.Now().Add(r.Settle)
	timer := time.NewTimer(r.Settle)
	defer timer.Stop()
	var packet []byte
	for tried := 0; tried < r.Count; tried++ {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		p.Error, p.Sent = r.Clock.Estimate(), control.TimestampOf(r.Clock.Read())
		if p.Sequence == 0 {
			p.Began = p.Sent
		}
		packet = p.Append(packet[:0], r.Size)
		_, _, err := socket.Send(packet, r.to)
		switch {
		case err == nil:
			p.Sequence++
			r.note(func() { r.first, r.sent = p.Began, p.Sequence })
		case p.Sequence == 0: // nor will the others
			r.note(func() { r.failed = hint(err) })
			return
		default:
			r.note(func() { r.unsent++ })
		}
		if due = due.Add(r.Interval); time.Since(due) > 0 {
			due = time.Now().Add(r.Interval)
		}
		timer.Reset(time.Until(due))
	}
}

func (r *run) note(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

// listen takes what comes and tells of it until there is no more to tell, or ctx ends, which interrupts the socket.
func (r *run) listen(ctx context.Context) error {
	r.next = time.Now().Add(reportEvery)
	for {
		event, err := r.listener.Receive(r.next)
		if p, is := event.(sock.Packet); is {
			r.roster.hear(p.Data, Heard{From: p.From.Addr().WithZone(""), At: r.Clock.At(p.At), TTL: p.TTL, DSCP: p.DSCP})
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Errorf("listen to group %s: %w", r.Group, err)
		case time.Now().Before(r.next):
			continue
		}
		if over, err := r.step(); over || err != nil {
			return err
		}
	}
}

// step sends the next packet of a report, and reports whether it was the last one.
func (r *run) step() (over bool, err error) {
	var done time.Time
	r.note(func() { done, err = r.done, r.failed })
	if err != nil {
		return false, fmt.Errorf("send probes: %w", err)
	}
	now := time.Now()
	every := reportEvery
	if !done.IsZero() {
		every = finalEvery
	}
	r.next = now.Add(every)
	switch {
	case !done.IsZero() && now.Sub(done) >= r.Grace-every:
		r.judge(now)
		over = true
	case len(r.left) == 0 && now.Before(r.stands):
		return false, nil
	case len(r.left) == 0:
		r.judge(now)
	}
	if over {
		r.leave(r.listener)
		return true, nil
	}
	r.tell(r.listener)
	if at := r.Clock.Read(); len(r.left) == 0 && r.figures.Complete && r.roster.told(at) && r.roster.ready(at) {
		r.goodbye++
	}
	return r.goodbye >= farewells, nil
}

// judge makes figures anew. Now is by time.Now.
func (r *run) judge(now time.Time) {
	at := r.Clock.Read()
	bound, known := r.Clock.Worth()
	blocks := r.roster.blocks(at, bound, known)
	r.figures = ReceiverReport{Member: r.id, Name: r.Name, Listening: control.TimestampOf(r.roster.listening), Judged: control.TimestampOf(at),
		All: len(blocks), Blocks: blocks}
	r.note(func() { r.figures.Began, r.figures.Sent, r.figures.Done = r.first, r.sent, !r.done.IsZero() })
	r.figures.Complete = r.figures.Done && r.roster.complete(blocks, at)
	r.left = blocks
	r.stands = now.Add(idleShare * time.Since(now))
	if r.Progress != nil {
		r.Progress(r.report())
	}
}

// tell sends the next packet of the present figures: one at least, so that others know that this member is there. What cannot be sent is as lost.
func (r *run) tell(socket *sock.Socket) {
	part := r.figures
	part.Told = part.Complete && r.roster.told(r.Clock.Read())
	n := fit(r.Name, r.left)
	part.Blocks, r.left = r.left[:n], r.left[n:]
	_, _, _ = socket.Send(part.Append(nil), r.to)
}

// leave tells all of the present figures, and that nothing more comes.
func (r *run) leave(socket *sock.Socket) {
	r.figures.Leaving = true
	for first := true; first || len(r.left) > 0; first = false {
		r.tell(socket)
	}
}

// report is the matrix by the present figures.
func (r *run) report() Report {
	report := r.roster.matrix(Member{ID: r.id, Name: r.Name, Sent: r.figures.Sent, Done: r.figures.Done}, r.figures.Blocks)
	report.Began, report.Ended, report.Stepped = r.began, r.figures.Judged.Time(), r.wall.Stepped()
	r.note(func() { report.Unsent = r.unsent })
	return report
}
