package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab"
)

func labExec(s *session, name *string) *cobra.Command {
	return &cobra.Command{
		Use: "exec HOST -- CMD…", Short: "Run a command on a host of the lab", Args: cobra.MinimumNArgs(2),
		Long:    "Run a command on a host of the lab, with this terminal as its own. Its exit status is passed on.",
		Example: "  pathwise lab exec bob -- ping -c 3 carol",
		RunE: func(c *cobra.Command, args []string) error {
			l, err := lab.Open(*name)
			if err != nil {
				return err
			}
			// Signals are the command's to answer from here on, so the context that ends with them is used no more.
			signals := make(chan os.Signal, 8)
			signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
			defer signal.Stop(signals)
			if err := context.Cause(c.Context()); err != nil {
				return err
			}
			p, err := l.Start(context.WithoutCancel(c.Context()), args[0],
				lab.Command{Argv: args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
			if err != nil {
				return err
			}
			status, err := waitWithSignals(p, signals)
			if err != nil || status == 0 {
				return err
			}
			return exitStatus(status)
		},
	}
}

// running is a command that runs.
type running interface {
	Signal(signal syscall.Signal) error
	Wait() (status int, err error)
}

// waitWithSignals passes signals on to a command until it has ended, and returns what Wait does.
func waitWithSignals(p running, signals <-chan os.Signal) (status int, err error) {
	ended, passed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(passed)
		for {
			select {
			case signal := <-signals:
				_ = p.Signal(signal.(syscall.Signal)) // a command that has just ended takes none
			case <-ended:
				return
			}
		}
	}()
	status, err = p.Wait()
	close(ended)
	<-passed
	return status, err
}
