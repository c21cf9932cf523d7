package probe

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
)

// handle notes what came in.
func (r *pingRun) handle(event any) {
	switch e := event.(type) {
	case pingAnswer:
		r.answer(e)
	case pingRefusal:
		r.refuse(e)
	}
}

func (r *pingRun) answer(a pingAnswer) {
	e := &r.echoes[a.index]
	switch {
	case e.RTTSeconds != nil:
		e.Duplicates++
		return
	case a.rtt > r.Timeout:
		return // lost, by definition
	}
	if a.kernel {
		r.kernel++
	}
	e.RTTSeconds, e.TTL, e.DSCP, e.From, e.Error = new(a.rtt.Seconds()), a.ttl, a.dscp, "", ""
	if a.from.IsValid() {
		e.From = a.from.String()
	}
	r.arrivals = append(r.arrivals, uint64(e.Seq))
	if !e.done { // it is, when this process was too late to see a reply that came in time
		r.settle(e)
	}
}

func (r *pingRun) refuse(f pingRefusal) {
	e := &r.echoes[f.index]
	if e.done {
		return
	}
	e.Error = f.why
	if f.from.IsValid() {
		e.From = f.from.String()
	}
	if f.noWay && !r.last && len(r.arrivals) == 0 {
		r.noWay = refusalText(e.Echo)
		return
	}
	r.settle(e)
}

// report fills in what was measured. Requests whose fate was still open when the run was cut short are neither answered
// nor lost, and so are left out.
func (r *pingRun) report(result *measure.Result) {
	open := 0
	for _, e := range r.echoes {
		if e.done {
			result.Samples.Echoes = append(result.Samples.Echoes, e.Echo)
		} else {
			open++
		}
	}
	if open > 0 {
		result.Note(fmt.Sprintf("%d requests were on their way when the measurement was cut short and are not counted", open))
	}
	result.Metrics = reduceEchoes(result.Samples.Echoes, r.arrivals)
	result.Distributions = echoDistributions(result.Samples.Echoes)
	result.Parameters["stamps"], result.Parameters["socket"] = "kernel", r.sender.socket()
	if user := len(r.arrivals) - r.kernel; user > 0 {
		result.Note(fmt.Sprintf("%d of %d round trips lack a kernel stamp and are by this process's clock", user, len(r.arrivals)))
		if user*2 > len(r.arrivals) {
			result.Parameters["stamps"] = "user"
		}
	}
}
