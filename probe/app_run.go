package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Do makes the requests and returns a Result of kind "app". Parameters["answers"] says what the server answered, in its protocol's words, with
// how often where it was not the same each time.
func (p *App) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "app", p.Target, p.measure)
}

func (p *App) measure(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	all := p.withDefaults()
	result.Parameters = recorded(appFields(), &all)
	result.Parameters["stamps"] = "user"
	service, err := all.scheme().service(all)
	if err != nil {
		return err
	}
	ways, err := waysTo(ctx, nil, all.Target, all.Family)
	if err != nil {
		return err
	}
	return tryWays(result, ways, func(w way, last bool) error {
		run := &appRun{App: all, service: service, to: netip.AddrPortFrom(w.to, uint16(all.Port)), last: last, started: time.Now()}
		err := run.do(ctx)
		var unreachable *unreachableError
		if errors.As(err, &unreachable) {
			return err
		}
		run.report(result)
		if err != nil {
			return fmt.Errorf("%s://%s: %w", all.Scheme, all.Target, err)
		}
		return nil
	})
}

// endOfApp is why no further request may be made.
type endOfApp struct{ why string }

func (e *endOfApp) Error() string { return e.why }

// appRun is one measurement under way. Each exchange has a goroutine, which touches nothing of it; the others are of one.
type appRun struct {
	App
	service appService
	to      netip.AddrPort
	last    bool // there is no other address to try
	started time.Time

	echoes  []measure.Echo // by index of the request
	done    []bool         // whether its fate is known
	answers []appAnswer    // in order of arrival
}

// appOutcome is what became of a request.
type appOutcome struct {
	index int
	appAnswer
	err error
}

// do makes the requests at their times, and waits until the fate of each is known. It leaves no goroutine.
func (r *appRun) do(parent context.Context) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(parent)) // of its deadline none may think that it is the server's
	defer context.AfterFunc(parent, cancel)()
	outcomes := make(chan appOutcome)
	open := 0
	defer func() {
		for cancel(); open > 0; open-- {
			<-outcomes
		}
	}()
	p := pace{interval: r.Interval, gap: Ping{Interval: r.Interval, Poisson: r.Poisson, Rand: r.Rand}.gaps()}
	for next, last := 0, r.Count; next < last || open > 0; {
		var due <-chan time.Time
		if next < last {
			due = time.After(time.Until(r.started.Add(p.due)))
		}
		select {
		case <-parent.Done():
			return context.Cause(parent)
		case <-due:
			begins := time.Since(r.started)
			if r.Deadline > 0 && begins > r.Deadline { // too late for it, and for all that would follow
				last = next
				continue
			}
			p.leave(begins)
			r.echoes = append(r.echoes, measure.Echo{Seq: next + 1, SentSeconds: begins.Seconds()})
			r.done = append(r.done, false)
			go func(index int) { outcomes <- r.exchange(ctx, index) }(next)
			next, open = next+1, open+1
		case o := <-outcomes:
			open--
			if parent.Err() != nil {
				return context.Cause(parent)
			}
			if err := r.settle(o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *appRun) exchange(ctx context.Context, index int) appOutcome {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	answer, err := r.service.exchange(ctx, r.to)
	return appOutcome{index, answer, err}
}

// settle notes what became of a request. The error ends the run.
func (r *appRun) settle(o appOutcome) error {
	e := &r.echoes[o.index]
	var end *endOfApp
	switch {
	case o.err == nil:
		e.RTTSeconds = new(o.rtt.Seconds())
		r.answers = append(r.answers, o.appAnswer)
	case errors.As(o.err, &end):
		e.Error = end.why
	case isUnreachable(o.err) && !r.last && len(r.answers) == 0:
		return &unreachableError{errorText(o.err)}
	case !isSilence(o.err):
		e.Error = errorText(o.err)
	}
	r.done[o.index] = true
	if r.Progress != nil {
		r.Progress(*e)
	}
	if end != nil {
		return end
	}
	return nil
}

// report fills in what was measured.
func (r *appRun) report(result *measure.Result) {
	open, reasons := 0, []string{}
	for i, e := range r.echoes {
		if !r.done[i] {
			open++
			continue
		}
		result.Samples.Echoes = append(result.Samples.Echoes, e)
		if e.Error != "" && !slices.Contains(reasons, e.Error) {
			reasons = append(reasons, e.Error)
		}
	}
	if open > 0 {
		result.Note(fmt.Sprintf("%d requests were on their way when the measurement was cut short and are not counted", open))
	}
	result.Metrics = reduceEchoes(result.Samples.Echoes, nil)
	for _, m := range []measure.Metric{measure.DuplicatePackets, measure.ReorderedPackets, measure.ReorderingRatio} { // requests of their own sockets
		delete(result.Metrics, m)
	}
	result.Distributions = echoDistributions(result.Samples.Echoes)
	reduceApp(result, r.answers, time.Now())
	if result.Metrics[measure.ReceivedPackets] == 0 && len(result.Samples.Echoes) > 0 {
		result.Note(strings.Join(append(reasons, r.scheme().remedy), "; "))
	} else if len(reasons) > 0 {
		result.Note("not answered: " + strings.Join(reasons, "; "))
	}
}
