package main

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
)

// commandOfTest ends with the first signal that it gets.
type commandOfTest struct{ got chan syscall.Signal }

func (c commandOfTest) Signal(s syscall.Signal) error {
	c.got <- s
	return nil
}

var errOfTest = errors.New("killed")

func (c commandOfTest) Wait() (int, error) { return int(<-c.got), errOfTest }

// A command gets the signals that come while it runs, and nobody waits for more once it has ended: else the bubble of the test would not end.
func TestSignalsWhileACommandRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 1)
		signals <- syscall.SIGTERM
		if status, err := waitWithSignals(commandOfTest{make(chan syscall.Signal)}, signals); status != int(syscall.SIGTERM) || !errors.Is(err, errOfTest) {
			t.Errorf("status %d, %v", status, err)
		}
	})
}
