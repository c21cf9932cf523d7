package fleet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pathwise-net/pathwise/measure"
)

// TestHostsAreFiledTogether has Results of several hosts wait in one queue: an archive that puts on disk together what is
// there at the same time must be given them at the same time.
func TestHostsAreFiledTogether(t *testing.T) {
	const hosts = 10
	packer, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	m := &mesh{keys: testKeyring(t)}
	server, credentials := testServer(t, m.keys, "", names(hosts))
	all := &togetherArchive{all: make(chan struct{})}
	all.missing.Add(hosts)
	go func() { all.missing.Wait(); close(all.all) }()
	h, err := OpenHub(t.Context(), HubConfig{Keys: m.keys, Server: server})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	f := newFiling(h, all)
	defer f.end()
	defer cancel()
	for host := range credentials {
		batches, err := encode(results(testResult(host, testRun(host, "r", 1))))
		if err != nil {
			t.Fatal(err)
		}
		f.take(ctx, &nats.Msg{Subject: subjectResult + host, Reply: inbox + host + ".x", Data: packer.compress(batches[0])})
	}
	select {
	case <-all.all:
	case <-time.After(patience):
		t.Error("not all were filed together")
	}
}

func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("h%d", i))
	}
	return all
}

// togetherArchive files when all have called.
type togetherArchive struct {
	missing sync.WaitGroup
	all     chan struct{}
	late    atomic.Bool
}

func (a *togetherArchive) File(ctx context.Context, _ string, _ []*measure.Result) error {
	if a.late.Load() {
		return context.DeadlineExceeded
	}
	a.missing.Done()
	select {
	case <-a.all:
		return nil
	case <-time.After(patience):
		a.late.Store(true)
		return context.DeadlineExceeded
	}
}

func (a *togetherArchive) Heard(Status) {}
