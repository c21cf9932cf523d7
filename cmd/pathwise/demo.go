package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// demoSpec is the case of Bob and Carol: 2,000 miles, 100 Mbit/s at the narrowest link, a round trip of 50 ms; a bad
// cable between two routers, and a receive buffer that nobody ever raised.
const demoSpec = `
seed: 2009
hosts:
  bob:   {}
  carol: {sysctl: {net.ipv4.tcp_rmem: "4096 87380 87380"}}
routers: [denver, chicago]
links:
  - {between: [bob, denver],     rate: 1gbit,   delay: 1ms}
  - {between: [denver, chicago], rate: 100mbit, delay: 23ms, loss: 1%}
  - {between: [chicago, carol],  rate: 1gbit,   delay: 1ms}
`

const (
	demoBytes    = 50_000_000      // what Bob must send each half hour
	demoPatience = 8 * time.Second // of a slow transfer; the rest is worked out
	demoTransfer = "4s"            // of each transfer that the diagnosis makes
)

// demoRound is one act: what is wrong, and how it is mended afterwards.
type demoRound struct {
	fault string
	mend  func(*lab.Lab, *measure.Finding) (done string, err error)
}

var demoRounds = []demoRound{
	{"loss on a bad cable", func(l *lab.Lab, _ *measure.Finding) (string, error) {
		return "the cable between denver and chicago is replaced", l.Set("denver", "chicago", "loss=0")
	}},
	{"receive buffer left at 87380 bytes", func(l *lab.Lab, f *measure.Finding) (string, error) {
		return followAdvice(l, f)
	}},
	{"none", nil},
}

// DemoRound is the account of a round, as the contract's demo has it.
type DemoRound struct {
	Fault           string   `json:"fault"`
	Verdict         string   `json:"verdict"`
	Expected        float64  `json:"expected_bits_per_second"`
	Achieved        float64  `json:"achieved_bits_per_second"`
	Predicted       float64  `json:"predicted_bits_per_second"`
	Reached         float64  `json:"reached_bits_per_second"`
	TransferSeconds float64  `json:"transfer_seconds"`
	Extrapolated    bool     `json:"extrapolated"`
	Advice          []string `json:"advice"`
	Done            string   `json:"done"`
}

func demoCommand(s *session) *cobra.Command {
	var keep, meshOnly bool
	var listen string
	c := &cobra.Command{
		Use: "demo", Short: "The main job, on this machine alone, in about a minute", Args: cobra.NoArgs,
		Long: "Bob must send 50 MB to Carol, 2,000 miles away, each half hour. Two hosts with this kernel's own TCP and an emulated\n" +
			"path between them (100 Mbit/s, 50 ms) play the case: the transfer crawls; Pathwise measures, names the cause, says\n" +
			"what to change and what to expect; the change is made; it measures again.\n\n" +
			"With --keep, on a terminal, a mesh of twelve hosts in an emulated network then runs until Ctrl-C, with its pages.",
		Example: "  pathwise demo\n  pathwise demo --keep\n  pathwise demo --json",
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("listen") && !keep && !meshOnly {
				return badFlag("listen", errors.New("want --keep or --mesh with it: nothing else listens"))
			}
			if listen != "" { // else it would be told after a minute of demo
				if _, err := demoAddress(listen); err != nil {
					return err
				}
			}
			if !meshOnly {
				if err := runDemo(c.Context(), s); err != nil || !keep {
					return err
				}
			}
			switch {
			case isTerminal(s.out):
				return s.keepDemo(c.Context(), listen)
			case meshOnly:
				return errNoTerminal
			}
			fmt.Fprintln(s.err, "note:", errNoTerminal)
			return nil
		},
	}
	f := c.Flags()
	f.BoolVar(&keep, "keep", false, "leave a mesh running afterwards, with its pages, until Ctrl-C")
	f.BoolVar(&meshOnly, "mesh", false, "that mesh at once, without Bob and Carol")
	f.StringVar(&listen, "listen", "", "with --keep or --mesh: where the pages are (default "+demoListen+", or any port if that is taken)")
	return c
}

var errNoTerminal = errors.New("no mesh is kept: there is no terminal to show its address on, and to end it from by Ctrl-C")

func runDemo(ctx context.Context, s *session) error {
	spec, err := lab.ParseSpec("demo", []byte(demoSpec))
	if err != nil {
		return err
	}
	s.progress("standing up bob, carol and the path between them…")
	l, err := lab.Start(ctx, spec, lab.Options{})
	s.progress("")
	if err != nil {
		return err
	}
	defer l.Close()
	s.say("Bob sends 50 MB to Carol, 2,000 miles away: 100 Mbit/s, 50 ms. He expects 4 to 6 seconds.")
	responder, err := startResponderOn(ctx, l, "carol")
	if err != nil {
		return err
	}
	defer responder.Kill()

	rounds, err := playRounds(ctx, s, l)
	if len(rounds) == 0 {
		return err
	}
	doc := map[string]any{"schema": "pathwise.demo/1", "rounds": rounds}
	return errors.Join(err, s.emit(doc, func(w io.Writer) { printRounds(w, rounds) }))
}

// playRounds returns the rounds that were played, and what ended them early.
func playRounds(ctx context.Context, s *session, l *lab.Lab) (rounds []DemoRound, err error) {
	for i, round := range demoRounds {
		s.say("\nround %d of %d: %s", i+1, len(demoRounds), round.fault)
		r, finding, err := playRound(ctx, s, l, round)
		if err != nil {
			return rounds, fmt.Errorf("round %d: %w", i+1, err)
		}
		if i > 0 {
			rounds[i-1].Reached = r.Achieved
		}
		rounds = append(rounds, r)
		if round.mend == nil {
			break
		}
		if rounds[i].Done, err = round.mend(l, finding); err != nil {
			return rounds, fmt.Errorf("round %d: %w", i+1, err)
		}
		s.say("  done: %s", rounds[i].Done)
	}
	return rounds, nil
}

// playRound transfers, diagnoses and says what came out.
func playRound(ctx context.Context, s *session, l *lab.Lab, round demoRound) (DemoRound, *measure.Finding, error) {
	r := DemoRound{Fault: round.fault, Advice: []string{}}
	var transfer measure.Result
	err := s.runSelf(ctx, l, "bob", "bob sends to carol", &transfer, "throughput", "carol", "--cc", "cubic",
		"-n", fmt.Sprint(demoBytes), "-t", demoPatience.String())
	if err != nil {
		return r, nil, err
	}
	if r.Achieved = transfer.Metrics[measure.Throughput]; r.Achieved == 0 {
		return r, nil, errors.New("nothing arrived at carol")
	}
	received := transfer.Metrics[measure.ReceivedBytes]
	r.TransferSeconds = demoBytes * 8 / r.Achieved
	r.Extrapolated = received < 0.99*demoBytes
	how := ""
	if r.Extrapolated {
		how = fmt.Sprintf(" at this rate (%s moved in %v)", quantity.FormatSize(int64(received)), demoPatience)
	}
	s.say("  50 MB take %s%s: %s", quantity.FormatSeconds(r.TransferSeconds), how, quantity.FormatRate(r.Achieved))

	var d diagnose.Diagnosis
	if err := s.runSelf(ctx, l, "bob", "pathwise diagnoses", &d, "diagnose", "carol", "--cc", "cubic", "-t", demoTransfer); err != nil {
		return r, nil, err
	}
	if r.Verdict = d.Verdict; d.ExpectedBitsPerSecond != nil {
		r.Expected = *d.ExpectedBitsPerSecond
	}
	f := d.First()
	if f == nil {
		s.say("  verdict: %s", d.Verdict)
		return r, nil, nil
	}
	for _, a := range f.Advice {
		r.Advice = append(r.Advice, adviceText(a))
	}
	s.say("  verdict: %s\n%s", d.Verdict, fold(f.Explanation, "    "))
	for _, e := range f.Evidence {
		s.say("    - %s: %s, %s", e.Metric, evidenceValue(e), e.Means)
	}
	for _, a := range r.Advice {
		s.say("    > %s", a)
	}
	if f.Predicted != nil {
		r.Predicted = f.Predicted.BitsPerSecond
		s.say("    = then expect %s: %s", quantity.FormatRate(r.Predicted), f.Predicted.Basis)
	}
	return r, f, nil
}

func adviceText(a measure.Advice) string {
	if a.Command != "" {
		return "on " + a.Host + ": " + a.Command
	}
	return a.Why
}

// followAdvice runs the first command that a finding advises, where it says.
func followAdvice(l *lab.Lab, f *measure.Finding) (string, error) {
	if f == nil {
		return "", fmt.Errorf("nothing was found, so there is no advice to follow")
	}
	for _, a := range f.Advice {
		setting, ok := strings.CutPrefix(a.Command, "sysctl -w ")
		key, value, both := strings.Cut(setting, "=")
		if ok && both {
			return "on " + a.Host + ": " + a.Command, l.SetSysctl(a.Host, key, strings.Trim(value, `"`))
		}
	}
	return "", fmt.Errorf("the advice for %s is no command that can be run here", f.ID)
}

func printRounds(w io.Writer, rounds []DemoRound) {
	const row = "%-34s %11s %11s %9s  %-22s %11s %11s\n"
	fmt.Fprintf(w, "\n"+row, "fault", "expected", "achieved", "50 MB in", "cause found", "predicted", "reached")
	extrapolated := false
	for _, r := range rounds {
		took := quantity.FormatSeconds(r.TransferSeconds)
		if r.Extrapolated {
			took, extrapolated = took+"*", true
		}
		fmt.Fprintf(w, row, r.Fault, rateOrDash(r.Expected), quantity.FormatRate(r.Achieved), took, r.Verdict,
			rateOrDash(r.Predicted), rateOrDash(r.Reached))
	}
	fmt.Fprintln(w)
	for _, r := range rounds {
		if len(r.Advice) > 0 {
			fmt.Fprintf(w, "%s:\n%s\n", r.Verdict, fold("advice: "+r.Advice[0], "  "))
		}
	}
	if extrapolated {
		fmt.Fprintf(w, "* worked out from the first %v\n", demoPatience)
	}
}

func rateOrDash(v float64) string {
	if v == 0 {
		return "-"
	}
	return quantity.FormatRate(v)
}
