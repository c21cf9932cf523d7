package main

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// What takes longer than two seconds shows so on a terminal; what is shorter does not, and nothing does in a pipe.
func TestTicking(t *testing.T) {
	user, program := terminalOf(t, 120, 30)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	// The kernel hands on what is written to a terminal a moment later.
	drawn := func(f *os.File, within time.Duration) bool {
		ready := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		for {
			n, err := unix.Poll(ready, int(within.Milliseconds()))
			if !errors.Is(err, unix.EINTR) {
				return n > 0
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		stop := (&session{err: program}).ticking("backing up")
		inPipe := (&session{err: write}).ticking("backing up")
		time.Sleep(patience - time.Millisecond)
		synctest.Wait()
		if drawn(user, 50*time.Millisecond) {
			t.Error("something is drawn before two seconds have passed")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if !drawn(user, 10*time.Second) {
			t.Error("nothing is drawn after two seconds")
		}
		stop()
		inPipe()
	})
	if drawn(read, 0) {
		t.Error("something is written to a pipe")
	}
}
