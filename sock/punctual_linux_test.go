package sock

import (
	"errors"
	"os"
	"testing"
	"time"
)

// A punctual wait ends at its moment and not before; it has stamps and packets as they come, and ends when it is interrupted.
func TestReceivePunctually(t *testing.T) {
	echo := echoServer(t, loopbacks[0])
	s := openUDP(t, loopbacks[0])
	for _, wait := range []time.Duration{-time.Second, 0, 50 * time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
		until := time.Now().Add(wait)
		event, err := s.ReceivePunctually(until)
		if event != nil || !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().Before(until) {
			t.Errorf("%v: %v, %v, %v too early", wait, event, err, time.Until(until))
		}
	}
	for _, wait := range []time.Duration{time.Millisecond, patience} {
		if _, _, err := s.Send([]byte{1}, echo); err != nil {
			t.Fatal(err)
		}
		var events []Event
		for end := time.Now().Add(patience); len(events) < 2 && time.Now().Before(end); {
			if event, err := s.ReceivePunctually(time.Now().Add(wait)); err == nil {
				events = append(events, event)
			}
		}
		if len(events) != 2 {
			t.Fatalf("%v: %v, want a stamp and an answer", wait, events)
		}
		if _, stamp := events[0].(Sent); !stamp {
			t.Errorf("%v: %T before the stamp", wait, events[0])
		}
	}
	s.Interrupt()
	if event, err := s.ReceivePunctually(time.Now().Add(patience)); event != nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("interrupted: %v, %v", event, err)
	}
}
