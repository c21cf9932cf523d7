package fleet

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// countingArchive counts Results and keeps none.
type countingArchive struct {
	left atomic.Int64
	done chan struct{}
}

func (a *countingArchive) File(_ context.Context, _ string, r []*measure.Result) error {
	if a.left.Add(int64(-len(r))) == 0 {
		close(a.done)
	}
	return nil
}

func (a *countingArchive) Heard(Status) {}

type idle struct{}

func (idle) Plan(context.Context, Plan) error      { return nil }
func (idle) Order(context.Context, Order) error    { return nil }
func (idle) Filed(context.Context, []string) error { return nil }

// BenchmarkDeliver is from Deliver to File, over TLS, of pings of ten echoes; an operation is one Result.
func BenchmarkDeliver(b *testing.B) {
	k, err := OpenKeyring(filepath.Join(b.TempDir(), "keys"))
	if err != nil {
		b.Fatal(err)
	}
	c, err := k.Issue("ucl", Reach{})
	if err != nil {
		b.Fatal(err)
	}
	agents, err := k.Agents()
	if err != nil {
		b.Fatal(err)
	}
	s, err := StartServer(b.Context(), ServerConfig{Keys: k, Agents: agents, Listen: "127.0.0.1:0"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	h, err := OpenHub(b.Context(), HubConfig{Keys: k, Server: s})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	a := &countingArchive{done: make(chan struct{})}
	a.left.Store(int64(b.N))
	go h.Serve(b.Context(), a)
	c.Reach = k.Embedded(s.Addr().String())
	l, err := NewLink(LinkConfig{Credentials: c})
	if err != nil {
		b.Fatal(err)
	}
	go l.Serve(b.Context(), idle{})
	for l.current() == nil {
		runtime.Gosched()
	}
	const batch = 300 // one message, as of an agent that catches up
	var some []*measure.Result
	for range batch {
		some = append(some, testResult("ucl", testRun("ucl", ulid.Make().String(), 10)))
	}
	b.ResetTimer()
	for n := 0; n < b.N; n += batch {
		err := ErrBehind
		for ; errors.Is(err, ErrBehind); err = l.Deliver(b.Context(), some[:min(batch, b.N-n)]) {
			runtime.Gosched()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	<-a.done
}
