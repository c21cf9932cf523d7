package fleet

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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
	queue := make(chan jetstream.Msg, hosts)
	var acknowledged atomic.Int32
	for n := range hosts {
		host := fmt.Sprintf("h%d", n)
		batches, err := encode(results(testResult(host, testRun(host, "r", 1))))
		if err != nil {
			t.Fatal(err)
		}
		queue <- &waitingMessage{subject: subjectResult + host, data: packer.compress(batches[0]), acknowledged: &acknowledged}
	}
	close(queue)
	all := &togetherArchive{all: make(chan struct{})}
	all.missing.Add(hosts)
	go func() { all.missing.Wait(); close(all.all) }()
	f := &filing{hub: &NATSHub{keys: testKeyring(t), log: logger(nil), packer: packer}, to: all}
	f.run(t.Context(), queue)
	if n := acknowledged.Load(); n != hosts {
		t.Errorf("%d of %d messages are acknowledged: the others were not filed together", n, hosts)
	}
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

// waitingMessage is one of the stream's that nothing but a filer looks at.
type waitingMessage struct {
	jetstream.Msg
	subject      string
	data         []byte
	acknowledged *atomic.Int32
}

func (m *waitingMessage) Subject() string                           { return m.subject }
func (m *waitingMessage) Headers() nats.Header                      { return nil }
func (m *waitingMessage) Data() []byte                              { return m.data }
func (m *waitingMessage) Ack() error                                { m.acknowledged.Add(1); return nil }
func (m *waitingMessage) NakWithDelay(time.Duration) error          { return nil }
func (m *waitingMessage) Metadata() (*jetstream.MsgMetadata, error) { return nil, context.Canceled }
