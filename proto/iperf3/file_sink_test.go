package iperf3

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/disk"
)

// sink is a writer that is a function.
type sink func(p []byte) (int, error)

func (s sink) Write(p []byte) (int, error) { return s(p) }

// A receiver whose peer vanishes ends after what came is written, and not while that goes on: its sink is closed then.
func TestSinkOutlivesPeer(t *testing.T) {
	tr, far := oneStream(t, Params{TCP: true, Parallel: 1}, false)
	goOn, wrote := make(chan struct{}), 0
	tr.sink = sink(func(p []byte) (int, error) {
		<-goOn
		wrote += len(p)
		return len(p), nil
	})
	tr.begin(&monitor{})
	const came = 2 * disk.Large
	if _, err := far.Write(make([]byte, came)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); tr.streams[0].count.Load() < came; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d bytes came", tr.streams[0].count.Load())
		}
	}
	far.SetLinger(0)
	far.Close()
	select {
	case <-tr.received:
		t.Error("the receiver ended while its sink was writing")
	case <-time.After(100 * time.Millisecond): // a receiver that does not wait has ended by now, or else this says nothing
	}
	close(goOn)
	tr.settle()
	if wrote != came {
		t.Errorf("wrote %d of %d bytes", wrote, came)
	}
}

// What a sink does not take fails a test, also where that is the last of it, which is written once all has come.
func TestSinkFailsAtTheEnd(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "theirs"), []byte("less than a block"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ln, err := Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- (&Server{Policy: Policy{Files: root}}).Serve(ctx, ln) }()
	client := Client{Addr: ln.Addr().String(), Config: Config{Reverse: true, FarFile: "theirs", Sink: sink(func([]byte) (int, error) { return 0, unix.ENOSPC })}}
	var failed *SinkError
	if _, err := client.Run(ctx); !errors.As(err, &failed) || !errors.Is(err, unix.ENOSPC) {
		t.Errorf("%v, want that the sink is full", err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
