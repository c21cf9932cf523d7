package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/lab"
)

// runSelf runs this program on a host of a lab with --json, shows on a terminal that time goes by, and reads the
// document that it prints into doc.
func (s *session) runSelf(ctx context.Context, l *lab.Lab, host, what string, doc any, args ...string) error {
	out, outWriter, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("create pipe: %w", err)
	}
	defer out.Close()
	complaints, complaintsWriter, err := os.Pipe()
	if err != nil {
		outWriter.Close()
		return fmt.Errorf("create pipe: %w", err)
	}
	defer complaints.Close()
	p, err := l.Start(ctx, host, lab.Command{Argv: append([]string{lab.Self(), "--json"}, args...), Stdout: outWriter, Stderr: complaintsWriter})
	outWriter.Close()
	complaintsWriter.Close()
	if err != nil {
		return err
	}
	stop := s.ticking(what)
	defer stop()
	var said bytes.Buffer
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(&said, complaints)
	}()
	decodeErr := json.NewDecoder(out).Decode(doc)
	_, _ = io.Copy(io.Discard, out)
	<-drained
	status, err := p.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case status != exitDone:
		return fmt.Errorf("%s on %s: %s", args[0], host, strings.TrimPrefix(strings.TrimSpace(said.String()), "pathwise: "))
	case decodeErr != nil:
		return fmt.Errorf("read what %s printed: %w", args[0], decodeErr)
	}
	return nil
}

// patience is how long somebody waits without wondering whether anything happens.
const patience = 2 * time.Second

// ticking shows a line with the seconds that have gone by, on a terminal, from the second on and until the returned function is
// called.
func (s *session) ticking(what string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if past := time.Since(began); past >= patience {
				s.progress("  %s… %.0f s", what, past.Seconds())
			}
			select {
			case <-done:
				s.progress("")
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
