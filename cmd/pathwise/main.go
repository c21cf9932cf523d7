// Command pathwise measures network paths and says why they are slow.
//
// This package only parses, wires, runs and prints: what is measured and concluded is decided in the packages that it
// calls. One file holds one command.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // a mesh file may name zones, and a host may not have them

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/terminal"
)

// Exit statuses, as the contract fixes them.
const (
	exitDone      = 0
	exitFailed    = 1 // could not measure, or some targets could not
	exitBadCall   = 2 // the call was wrong; nothing was started
	exitBadResult = 3 // done, and --fail-on says that the outcome is bad
)

func main() {
	lab.RunEngineIfAsked() // a lab is this same binary in other namespaces
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main without the process: one command line in, one exit status out.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process as if nobody listened
	out := &checkedWriter{out: terminal.Letters(stdout, os.Environ())}
	s := &session{in: stdin, out: out, err: terminal.Letters(stderr, os.Environ())}
	s.meter, s.emulated = lab.ReadMeter()
	root := rootCommand(s)
	root.SetArgs(args)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	if wrong := out.failed(); wrong != nil && (err == nil || errors.Is(err, errBadOutcome)) {
		err = fmt.Errorf("write output: %w", wrong)
	}
	if err == nil && ctx.Err() != nil && terminal.Is(s.err) {
		fmt.Fprintln(s.err) // the terminal's ^C stands on the line
	}
	return s.status(err)
}

// documentation is where the pages of docs are, for who has the program alone.
const documentation = "https://github.com/pathwise-net/pathwise/tree/main/docs"

func rootCommand(s *session) *cobra.Command {
	root := &cobra.Command{
		Use:   "pathwise",
		Short: "Measure a network path, say why it is slow, and what to change",
		Long: "Pathwise measures network paths, names the cause when one is slow, says what to change and what speed that\n" +
			"will bring, and emulates any path to prove it.\n" +
			"What is called docs/… in these texts are pages of " + documentation + ".",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			s.sayFirst()
			return nil
		},
	}
	flags := root.PersistentFlags()
	flags.BoolVar(&s.json, "json", false, "print one JSON document on standard output, and nothing else there")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print the outcome only")
	flags.CountVarP(&s.verbose, "verbose", "v", "say more; twice for everything")
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		agentCommand(s),
		calcCommand(s),
		demoCommand(s),
		diagnoseCommand(s),
		explainCommand(s),
		flowsCommand(s),
		hostCommand(s),
		labCommand(s),
		manCommand(),
		meshCommand(s),
		respondCommand(s),
		serveCommand(s),
		versionCommand(s),
		watchPortCommand(s),
	)
	root.AddCommand(probeCommands(s)...)
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultCompletionCmd()
	requireKnownArguments(root)
	s.fitHelp(root)
	return root
}

// errBadOutcome ends a command that did its work and whose outcome --fail-on calls bad.
var errBadOutcome = errors.New("the outcome is bad")

// exitStatus carries another program's exit status out through ours.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// status prints err for people, if it has something to say, and returns the exit status that it stands for.
func (s *session) status(err error) int {
	var code exitStatus
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errBadOutcome):
		return exitBadResult
	}
	fmt.Fprintf(s.err, "pathwise: %s\n", strings.ReplaceAll(err.Error(), "\n", "; ")) // joined errors take a line each
	if input.Bad(err) {
		return exitBadCall
	}
	return exitFailed
}
