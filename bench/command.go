package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/pathwise-net/pathwise/lab"
)

// command is a program under way on a host of a lab. It ends by itself, by interrupt, or with the context that it was
// started with; wait must be called in any case.
type command struct {
	name     string
	process  *lab.Process
	out, err *watcher
}

// start runs a program on a host and returns when it has printed the text that says that it is ready.
func start(ctx context.Context, l *lab.Lab, host, ready string, argv ...string) (*command, error) {
	c, err := spawn(ctx, l, host, ready, argv)
	if err != nil {
		return nil, err
	}
	select {
	case <-c.out.seen:
		return c, nil
	case <-c.err.seen:
		return c, nil
	case <-c.out.ended:
		if _, err := c.wait(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: ended before it was ready", c.name)
	}
}

// spawn starts a program on a host, with our ends of its pipes in the hands of watchers.
func spawn(ctx context.Context, l *lab.Lab, host, ready string, argv []string) (*command, error) {
	out, outWriter, err := newWatcher(ready)
	if err != nil {
		return nil, err
	}
	defer outWriter.Close() // the program has its own
	complaints, complaintsWriter, err := newWatcher(ready)
	if err != nil {
		return nil, err
	}
	defer complaintsWriter.Close()
	p, err := l.Start(ctx, host, lab.Command{Argv: argv, Stdout: outWriter, Stderr: complaintsWriter})
	if err != nil {
		return nil, err
	}
	return &command{name: argv[0], process: p, out: out, err: complaints}, nil
}

// output runs a program on a host to its end and returns what it printed.
func output(ctx context.Context, l *lab.Lab, host string, argv ...string) (string, error) {
	c, err := spawn(ctx, l, host, "", argv)
	if err != nil {
		return "", err
	}
	return c.wait()
}

// wait returns what the program printed. A status other than 0 is an error that says what the program complained of.
func (c *command) wait() (string, error) {
	<-c.out.ended
	<-c.err.ended
	status, err := c.process.Wait()
	printed := c.out.String()
	if err != nil {
		return printed, fmt.Errorf("run %s: %w", c.name, err)
	}
	if status != 0 {
		complaint := strings.TrimSpace(c.err.String())
		if complaint == "" {
			complaint = strings.TrimSpace(printed) // iperf3 -J complains in its JSON
		}
		return printed, fmt.Errorf("%s: exit status %d: %s", c.name, status, complaint)
	}
	return printed, nil
}

// watcher keeps what comes out of a pipe and tells when a text has come.
type watcher struct {
	ready []byte
	seen  chan struct{} // closed when ready has come; never, if ready is empty
	ended chan struct{} // closed at the end of the pipe

	mu   sync.Mutex
	kept bytes.Buffer
	said bool
}

// newWatcher returns a watcher and the pipe's end to write to. The watcher's goroutine ends when every writer has
// closed that end.
func newWatcher(ready string) (*watcher, *os.File, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("create pipe: %w", err)
	}
	w := &watcher{ready: []byte(ready), seen: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		defer reader.Close()
		_, _ = io.Copy(w, reader)
	}()
	return w, writer, nil
}

func (w *watcher) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept.Write(b)
	if !w.said && len(w.ready) > 0 && bytes.Contains(w.kept.Bytes(), w.ready) {
		w.said = true
		close(w.seen)
	}
	return len(b), nil
}

func (w *watcher) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kept.String()
}
