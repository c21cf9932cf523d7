// Package workload is applications that use the network badly, or well, to order: what runs on the hosts of a lab when the
// fault is in a program and not in the path. They speak plain TCP, so that a capture of them looks like one of the real
// thing, and set every socket option that matters themselves, so that no default of a library decides.
//
//	source  -->  sink      bulk data: at a rate, in bursts, with work for each byte; read slowly, into a small buffer
//	request <--> reply     transactions: in one write or several, one after the other or many at once
//	copy    -->  copy      a file, from and to disks of a given speed, with an acknowledgement of the program's own
//	request <--> relay <--> reply      a proxy that keeps an answer until it believes that it has all of it
//	burn                   takes processor time
//	respond                answers Pathwise's transfers and trains of packets, by a wall clock that is off
//
// Each prints one JSON document, on one line, when it ends. What serves says "listening on ADDRESS" on standard error.
package workload

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pathwise-net/pathwise/input"
)

// Role is an application that Run knows.
type Role struct {
	Name, Summary string
	run           func(ctx context.Context, f *flag.FlagSet, args []string) (any, error)
}

// Roles returns all roles in a fixed order.
func Roles() []Role {
	return []Role{
		{"source", "send data to a sink: as fast as TCP takes it, at a rate, or in bursts", runSource},
		{"sink", "take data from sources, slowly if asked", runSink},
		{"request", "make transactions with a reply", runRequest},
		{"reply", "answer requests", runReply},
		{"copy", "send a file to another copy, or receive one", runCopy},
		{"relay", "stand between request and reply, and hold answers back", runRelay},
		{"burn", "keep processors busy", runBurn},
		{"respond", "answer transfers and trains of packets by a wall clock that is off", runRespond},
	}
}

// Run plays a role until it is done or ctx ends, and writes its report to out as one line of JSON. When ctx ends early the
// report has what was done so far, and there is no error.
func Run(ctx context.Context, role string, args []string, out io.Writer) error {
	for _, r := range Roles() {
		if r.Name != role {
			continue
		}
		f := flag.NewFlagSet(role, flag.ContinueOnError)
		f.SetOutput(io.Discard)
		report, err := r.run(ctx, f, args)
		if report == nil {
			return err
		}
		if writeErr := json.NewEncoder(out).Encode(report); err == nil && writeErr != nil {
			err = fmt.Errorf("write report: %w", writeErr)
		}
		return err
	}
	var names []string
	for _, r := range Roles() {
		names = append(names, r.Name)
	}
	return input.Errorf("%q: want a role: %s", role, strings.Join(names, ", "))
}

// parse reads flags that stand before, after or between the arguments, of which there must be as many as names.
func parse(f *flag.FlagSet, args []string, names ...string) ([]string, error) {
	var plain []string
	for {
		if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
			return nil, input.Errorf("%s", usage(f, names))
		} else if err != nil {
			return nil, input.Errorf("%s: %v", f.Name(), err)
		}
		if f.NArg() == 0 {
			break
		}
		plain, args = append(plain, f.Arg(0)), f.Args()[1:]
	}
	if len(plain) != len(names) {
		return nil, input.Errorf("%s: %d arguments %q; want %d: %s",
			f.Name(), len(plain), plain, len(names), strings.Join(names, " "))
	}
	return plain, nil
}

// usage lists a role's arguments and flags.
func usage(f *flag.FlagSet, names []string) string {
	text := fmt.Sprintf("%s: want %s; flags:", f.Name(), strings.Join(append(names, "[FLAGS]"), " "))
	f.VisitAll(func(one *flag.Flag) { text += fmt.Sprintf("\n  -%s: %s", one.Name, one.Usage) })
	return text
}

// listening tells whoever started a server that it may be called. A lost line is their problem, not the server's.
func listening(address fmt.Stringer) { fmt.Fprintf(os.Stderr, "listening on %v\n", address) }
