package probe

import (
	"context"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// stalling is a pingSender that is never answered. Sending a request takes as long as it says.
type stalling struct {
	takes map[int]time.Duration // by index
	sent  []time.Time
}

func (s *stalling) send(index, _ int) (time.Time, error) {
	s.sent = append(s.sent, time.Now())
	time.Sleep(s.takes[index])
	return s.sent[index], nil
}

func (s *stalling) receive(until time.Time) (any, error) {
	time.Sleep(time.Until(until))
	return nil, os.ErrDeadlineExceeded
}

func (s *stalling) interrupt()     {}
func (s *stalling) socket() string { return "none" }
func (s *stalling) close()         {}

// Requests leave as planned. What a stall made late is not sent in one burst: the plan goes on from there, as far as Deadline.
func TestPingRunPace(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		name     string
		takes    map[int]time.Duration
		deadline time.Duration
		want     []time.Duration // of the requests
		lasts    time.Duration
	}{
		{"steady", nil, 0, []time.Duration{0, s, 2 * s, 3 * s, 4 * s}, 6 * s},
		{"a short stall", map[int]time.Duration{1: 1500 * time.Millisecond}, 0, []time.Duration{0, s, 2500 * time.Millisecond, 3 * s, 4 * s}, 6 * s},
		{"a long stall", map[int]time.Duration{1: 10 * s}, 0, []time.Duration{0, s, 11 * s, 12 * s, 13 * s}, 15 * s},
		{"a deadline", map[int]time.Duration{1: 10 * s}, 12 * s, []time.Duration{0, s, 11 * s, 12 * s}, 14 * s},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			sender := &stalling{takes: c.takes}
			run := &pingRun{Ping: Ping{Count: 5, Interval: s, Timeout: 2 * s, Deadline: c.deadline}, sender: sender, started: began}
			if err := run.do(t.Context()); err != nil {
				t.Fatal(err)
			}
			var got []time.Duration
			for _, at := range sender.sent {
				got = append(got, at.Sub(began))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
			r := measure.NewResult("ping", began)
			run.report(r)
			if took := time.Since(began); took != c.lasts || r.Metrics[measure.LostPackets] != float64(len(c.want)) {
				t.Errorf("%s: ended after %v, want %v; %v", c.name, took, c.lasts, r.Metrics)
			}
		})
	}
}

// The end of ctx ends a run at once, while it sends and while it waits.
func TestPingRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		sender := &stalling{}
		run := &pingRun{Ping: Ping{Count: 5, Interval: time.Second, Timeout: 2 * time.Second}, sender: sender, started: time.Now()}
		if err := run.do(ctx); err != context.DeadlineExceeded || len(sender.sent) != 3 {
			t.Errorf("%v after %d requests, want 3", err, len(sender.sent))
		}
	})
}
