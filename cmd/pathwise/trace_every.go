package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyFlag is the flag of trace that says how often one that goes on begins again: --live and --report with a round, --watch with a trace. --interval is the time between the
// packets of either.
const everyFlag = "every"

// addEvery gives trace the flag, and has it refused of a trace that does not go on. addLive and addWatch, which
// are called after it, take the calls of those that do.
func addEvery(c *cobra.Command, flags *parameterFlags) {
	if flags.kind.Name != "trace" {
		return
	}
	c.Flags().String(everyFlag, "", "of --live, --report and --watch: time from one round, or trace, to the next (default: 1s, of --watch 10s)")
	once := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if f := flagAmong(c.Flags(), everyFlag); f != nil {
			return badFlag(f.Name, fmt.Errorf("%q: it is for --live, --report and --watch; give one of them, too", f.Value))
		}
		return once(c, args)
	}
}

// readEvery is the time given, which is least or more; where none is, it is usual.
func readEvery(flags *pflag.FlagSet, usual, least time.Duration) (time.Duration, error) {
	if !flags.Changed(everyFlag) {
		return usual, nil
	}
	text := flags.Lookup(everyFlag).Value.String()
	every, err := parsePositive(text)
	if err == nil && every < least {
		err = fmt.Errorf("%q: want %v at least", text, least)
	}
	if err != nil {
		return 0, badFlag(everyFlag, err)
	}
	return every, nil
}
