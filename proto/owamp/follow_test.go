package owamp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// arrivals are the records of a session that are not of lost packets.
func arrivals(s *Session) []Record {
	return slices.DeleteFunc(slices.Clone(s.Records), Record.Lost)
}

// tenths is a session of ten packets a second.
func tenths(packets int) *Terms {
	return &Terms{Packets: packets, Slots: Periodic(100*time.Millisecond, packets), Timeout: time.Second}
}

// watch is what is told of records, and when since the test was asked for.
type watch struct {
	forward, reverse []Record
	began            time.Time
	at               []time.Duration // of forward records
	inside           sync.Mutex
	t                *testing.T
}

func (w *watch) plan(p Plan) Plan {
	w.began = time.Now()
	p.OnForward = func(r Record) {
		w.alone(func() { w.forward, w.at = append(w.forward, r), append(w.at, time.Since(w.began)) })
	}
	p.OnRecord = func(r Record) { w.alone(func() { w.reverse = append(w.reverse, r) }) }
	return p
}

func (w *watch) alone(f func()) {
	if !w.inside.TryLock() {
		w.t.Error("two calls at a time")
		return
	}
	defer w.inside.Unlock()
	f()
}

func (w *watch) check(r *Report) {
	w.t.Helper()
	for _, one := range []struct {
		what string
		got  []Record
		want *Session
	}{{"forward", w.forward, r.Forward}, {"reverse", w.reverse, r.Reverse}} {
		if diff := cmp.Diff(arrivals(one.want), one.got); diff != "" || len(one.got) == 0 {
			w.t.Errorf("%s: %d told (-report +told):\n%s", one.what, len(one.got), diff)
		}
	}
}

// While a test of a server that is open for one test runs, its client is told of packets both ways: within a second, and then on.
func TestFollow(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{Tests: 1, Keys: keys, Modes: SecuredModes})
	w := &watch{t: t}
	r, err := measured(t, Client{KeyID: "ann", Secret: keys["ann"]}, at, w.plan(Plan{Forward: tenths(16), Reverse: tenths(16)}))
	if err != nil {
		t.Fatal(err)
	}
	w.check(r)
	if len(w.at) == 0 || w.at[0] > time.Second {
		t.Errorf("the first was told of after %v", w.at)
	}
	if last := time.Since(w.began); len(w.at) > 0 && w.at[len(w.at)/2] > last-300*time.Millisecond {
		t.Errorf("half were told of after %v, at the end of %v", w.at[len(w.at)/2], last)
	}
}

// A server that lets no second connection in is asked at the end, and all is told then.
func TestFollowRefused(t *testing.T) {
	t.Parallel()
	at, _ := serving(t, "127.0.0.1", endpoint.Policy{})
	once := through(t, at, func(near, far net.Conn) { _, _ = io.Copy(near, far) })
	w := &watch{t: t}
	r, err := measured(t, Client{}, once, w.plan(Plan{Forward: short(300), Reverse: short(300)}))
	if err != nil {
		t.Fatal(err)
	}
	w.check(r)
}

// through passes one connection on to a server, by a function for what comes from there, and closes those that come after it.
func through(t *testing.T, server netip.AddrPort, back func(near, far net.Conn)) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(group.Wait)
	t.Cleanup(func() { l.Close() })
	group.Go(func() {
		for first := true; ; first = false {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server.String())
			if err != nil || !first {
				near.Close()
				continue
			}
			group.Go(func() { _, _ = io.Copy(far, near); far.Close() })
			group.Go(func() { back(near, far); near.Close(); far.Close() })
		}
	})
	return endpoint.AddrPort(l.Addr())
}

// A test whose context ends, or whose server goes away, has what was known by then.
func TestBrokenOff(t *testing.T) {
	for name, c := range map[string]struct {
		lose bool
		want error
	}{"cancelled": {false, context.Canceled}, "server lost": {true, endpoint.ErrLost}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, _ := serving(t, "127.0.0.1", endpoint.Policy{Tests: 2})
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			end := cancel
			if c.lose {
				gone := make(chan struct{})
				end = sync.OnceFunc(func() { close(gone) })
				once := at
				at = through(t, once, func(near, far net.Conn) {
					ended := make(chan struct{})
					go func() { defer close(ended); _, _ = io.Copy(near, far) }()
					<-gone
					near.Close()
					far.Close()
					<-ended
				})
			}
			w := &watch{t: t}
			p := w.plan(Plan{Forward: tenths(1000), Reverse: tenths(1000)})
			told := p.OnRecord
			p.OnRecord = func(r Record) {
				if told(r); len(w.reverse) >= 8 && (c.lose || len(w.forward) > 0) {
					end()
				}
			}
			r, err := Client{}.Measure(ctx, []netip.AddrPort{at}, p)
			if !errors.Is(err, c.want) || r == nil {
				t.Fatalf("%+v, %v; want %v", r, err, c.want)
			}
			if r.Forward.Finished || len(r.Reverse.Records) < 8 || len(r.Left) < 5 { // the forward session may be a little behind
				t.Errorf("%d forward and %d reverse records, %d left here, finished: %v", len(r.Forward.Records), len(r.Reverse.Records),
					len(r.Left), r.Forward.Finished)
			}
			if diff := cmp.Diff(w.forward, r.Forward.Records); diff != "" || !c.lose && len(w.forward) == 0 {
				t.Errorf("forward (-told +report):\n%s", diff)
			}
		})
	}
}

// Of what is fetched each arrival is told of once, however often it is fetched: copies too, lost packets and others' numbers never.
func TestFollower(t *testing.T) {
	came := func(n uint32) Record { return Record{Sequence: n, Received: 1} }
	lost := func(n uint32) Record { return Record{Sequence: n} }
	var told []uint32
	f := &follower{packets: 8, tell: func(r Record) { told = append(told, r.Sequence) }}
	for _, step := range []struct {
		fetched []Record
		told    []uint32
		next    int
	}{
		{nil, nil, 0},
		{[]Record{came(0), came(2), came(2)}, []uint32{0, 2, 2}, 1},
		{[]Record{came(2), came(2), came(1), came(3), came(2), lost(4)}, []uint32{1, 3, 2}, 5},
		{[]Record{lost(5), lost(6), came(8), came(1 << 31)}, nil, 7},
		{[]Record{came(0), came(2), came(2), came(1), came(3), came(2), lost(4), lost(5), came(0), came(7)}, []uint32{0, 7}, 8},
	} {
		told = nil
		f.take(&Session{Records: step.fetched})
		if !slices.Equal(told, step.told) || f.next != step.next {
			t.Errorf("%v: told of %v, next %d; want %v and %d", step.fetched, told, f.next, step.told, step.next)
		}
	}
	if len(f.records) != 8 || f.records[7] != (Record{Sequence: 7, Received: control.Timestamp(1)}) {
		t.Errorf("%d kept: %v", len(f.records), f.records)
	}
}
