package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/accuracy"
	"github.com/pathwise-net/pathwise/quantity"
)

func labAccuracy(s *session) *cobra.Command {
	c := &cobra.Command{
		Use: "accuracy", Short: "Find out how often a diagnosis is right",
		Long: "Draw faults and healthy paths by strata of rate, round trip and congestion control, play and diagnose each in a lab, and count\n" +
			"how often the verdict is right. docs/accuracy.md has the figures.",
		Example: "  pathwise lab accuracy plan | head\n  pathwise lab accuracy play --dir samples --for 25m\n  pathwise lab accuracy judge --dir samples",
	}
	c.AddCommand(accuracyPlan(s), accuracyPlay(s), accuracyJudge(s))
	return c
}

// accuracyFlags choose samples of a plan.
type accuracyFlags struct {
	seed     uint64
	each     int
	causes   []string
	mostRate string
}

// perCause is how many samples of each cause make more than a thousand in all.
const perCause = 30

func (f *accuracyFlags) add(c *cobra.Command) {
	c.Flags().Uint64Var(&f.seed, "seed", accuracy.DefaultSeed, "of the plan")
	c.Flags().IntVar(&f.each, "each", perCause, "samples of each cause")
	c.Flags().StringSliceVar(&f.causes, "only", nil, "samples of these causes, or of these names, such as random-loss,random-loss-007")
	c.Flags().StringVar(&f.mostRate, "most-rate", "1gbit", "only paths up to this rate")
}

// samples are those of the plan that were asked for.
func (f *accuracyFlags) samples() ([]accuracy.Sample, error) {
	if f.each < 1 || f.each > mostPerCause {
		return nil, badFlag("each", fmt.Errorf("%d: want 1 to %d", f.each, mostPerCause))
	}
	most, err := quantity.ParseRate(f.mostRate)
	if err != nil {
		return nil, badFlag("most-rate", err)
	}
	plan, err := accuracy.Plan(f.seed, f.each)
	if err != nil {
		return nil, err
	}
	plan = slices.DeleteFunc(plan, func(s accuracy.Sample) bool {
		return s.Path.Rate > most ||
			len(f.causes) > 0 && !slices.Contains(f.causes, s.Cause) && !slices.Contains(f.causes, s.Name)
	})
	if len(plan) == 0 && len(f.causes) == 0 {
		return nil, badFlag("most-rate", fmt.Errorf("%q: want 1mbit or more: no path of the plan is slower", f.mostRate))
	}
	if len(plan) == 0 {
		return nil, badFlag("only", fmt.Errorf("%s: no sample of the plan up to %s has such a cause or name; see pathwise lab accuracy plan",
			strings.Join(f.causes, ","), f.mostRate))
	}
	return plan, nil
}

// mostPerCause keeps a plan within what is played in a month.
const mostPerCause = 10_000

func accuracyPlan(s *session) *cobra.Command {
	var flags accuracyFlags
	c := &cobra.Command{
		Use: "plan", Short: "List the samples", Args: cobra.NoArgs,
		Long: "List the samples of a plan: what is wrong in each, and the path. With --json each has its case file, which `pathwise lab record`\n" +
			"plays too.",
		Example: "  pathwise lab accuracy plan --only random-loss\n  pathwise lab accuracy plan --only random-loss-007 --json",
		RunE: func(*cobra.Command, []string) error {
			plan, err := flags.samples()
			if err != nil {
				return err
			}
			doc := map[string]any{"schema": "pathwise.accuracy.plan/1", "samples": plan}
			return s.emit(doc, func(w io.Writer) {
				for i := range plan {
					fmt.Fprintln(w, plan[i].Describe())
				}
			})
		},
	}
	flags.add(c)
	return c
}

func accuracyPlay(s *session) *cobra.Command {
	var flags accuracyFlags
	var dir string
	var lasts time.Duration
	var jobs int
	c := &cobra.Command{
		Use: "play", Short: "Play and diagnose the samples that have no record yet", Args: cobra.NoArgs,
		Long: "Play each sample of the plan that has no record in DIR: its lab, a transfer without the fault and with it, a diagnosis, and what\n" +
			"following its advice reaches; write DIR/NAME.json.gz. Run it again to go on. A sample takes about half a minute.",
		Example: "  pathwise lab accuracy play --dir samples --for 25m --most-rate 100mbit",
		RunE: func(c *cobra.Command, _ []string) error {
			plan, err := flags.samples()
			switch {
			case err != nil:
				return err
			case lasts <= 0:
				return badFlag("for", fmt.Errorf("%v: want a time, such as 25m", lasts))
			case jobs < 1 || jobs > mostJobs:
				return badFlag("jobs", fmt.Errorf("%d: want 1 to %d", jobs, mostJobs))
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return badFlag("dir", err)
			}
			return s.playSamples(c.Context(), accuracy.Left(plan, dir), dir, time.Now().Add(lasts), jobs)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&dir, "dir", "accuracy", "folder of the records")
	c.Flags().DurationVar(&lasts, "for", 25*time.Minute, "begin no sample later than this")
	c.Flags().IntVar(&jobs, "jobs", 1, "labs at once")
	return c
}

// mostJobs is more labs than any machine carries.
const mostJobs = 64

// playSamples plays samples until a time, so many at once.
func (s *session) playSamples(ctx context.Context, plan []accuracy.Sample, dir string, until time.Time, jobs int) error {
	var all sync.WaitGroup
	var lock sync.Mutex // of next, played, failed and what is printed
	next, played, failed := 0, 0, error(nil)
	for range jobs {
		all.Go(func() {
			for {
				lock.Lock()
				if next == len(plan) || failed != nil || ctx.Err() != nil || time.Now().After(until) {
					lock.Unlock()
					return
				}
				sample := &plan[next]
				next++
				lock.Unlock()
				r, err := accuracy.Play(ctx, sample, []string{lab.Self()})
				if err == nil {
					err = r.Write(dir)
				}
				lock.Lock()
				if failed = errors.Join(failed, err); err == nil {
					played++
					s.say("%s", r.Describe())
				}
				lock.Unlock()
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(failed, s.emit(map[string]any{"schema": "pathwise.accuracy.play/1", "played": played, "left": len(plan) - played},
		func(w io.Writer) { fmt.Fprintf(w, "%d played, %d left\n", played, len(plan)-played) }))
}

func accuracyJudge(s *session) *cobra.Command {
	var dir string
	var wrong bool
	c := &cobra.Command{
		Use: "judge", Short: "Count how often the rules of today are right about the records", Args: cobra.NoArgs,
		Long: "Apply the rules of this binary to what each record in DIR measured, and print how often they are right, as Markdown: in all, by\n" +
			"cause, by stratum, for causes that look alike, and by confidence. --wrong lists the samples that came out wrong.",
		Example: "  pathwise lab accuracy judge --dir samples\n  pathwise lab accuracy judge --dir samples --wrong",
		RunE: func(*cobra.Command, []string) error {
			outcomes, err := accuracy.Judge(dir)
			if err != nil {
				return err
			}
			if len(outcomes) == 0 {
				return badFlag("dir", fmt.Errorf("%s: no records there; pathwise lab accuracy play makes them", dir))
			}
			figures := accuracy.Count(outcomes)
			return s.emit(figures, func(w io.Writer) {
				if wrong {
					figures.WriteWrong(w)
				} else {
					figures.Write(w)
				}
			})
		},
	}
	c.Flags().StringVar(&dir, "dir", "accuracy", "folder of the records")
	c.Flags().BoolVar(&wrong, "wrong", false, "list the samples that came out wrong")
	return c
}
