package probe

import (
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
	"github.com/pathwise-net/pathwise/stat"
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
	if a.unreachable {
		r.unreachable++
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
	interval := r.Interval
	if r.Window != "" { // what a full queue loses is no outage
		interval = 0
	}
	addAvailability(result.Metrics, "", echoPassages(result.Samples.Echoes), interval)
	result.Distributions = echoDistributions(result.Samples.Echoes)
	r.reportRefusals(result)
	r.reportPace(result)
	r.reportWindows(result)
	r.reportSizes(result)
	r.reportBursts(result)
	result.Parameters["stamps"], result.Parameters["socket"] = "kernel", r.sender.socket()
	if user := len(r.arrivals) - r.kernel; user > 0 {
		result.Note(fmt.Sprintf("%d of %d round trips lack a kernel stamp and are by this process's clock", user, len(r.arrivals)))
		if user*2 > len(r.arrivals) {
			result.Parameters["stamps"] = "user"
		}
	}
}

// reportRefusals says that the answers are a kernel's word that nobody listens, and whether they look limited.
func (r *pingRun) reportRefusals(result *measure.Result) {
	if r.unreachable == 0 {
		return
	}
	result.Parameters["answers"] = string(sock.PortUnreachable)
	sent, lost := make([]float64, len(result.Samples.Echoes)), make([]bool, len(result.Samples.Echoes))
	for i, e := range result.Samples.Echoes {
		sent[i], lost[i] = e.SentSeconds, e.RTTSeconds == nil
	}
	if limited(sent, lost) {
		result.Note(fmt.Sprintf("the target seems to limit how often it says that nobody listens (Linux: %d at once, then one each %v), so that what is lost "+
			"may be its silence: ask a port with an echo service, or at an interval above %v", limitBurst, limitEvery, limitEvery))
	}
}

// reportBursts adds how far answers came out of order (RFC 4737 sections 4.2 and 5.3).
func (r *pingRun) reportBursts(result *measure.Result) {
	if r.Burst && len(r.arrivals) > 0 {
		order := stat.Ordering(r.arrivals)
		result.Metrics[measure.ReorderingExtent], result.Metrics[measure.ReorderingN] = float64(order.MaxExtent), float64(order.MaxN)
	}
}

// reportPace says where requests did not leave as planned: so late that others should have left before them, or all further apart.
func (r *pingRun) reportPace(result *measure.Result) {
	if r.Flood {
		return
	}
	late, latest := 0, 0.
	for _, e := range result.Samples.Echoes {
		if e.LateSeconds > r.Interval.Seconds() {
			late, latest = late+1, max(latest, e.LateSeconds)
		}
	}
	if late > 0 {
		result.Note(fmt.Sprintf("%d requests left later than planned, up to %s: this host was busy", late, quantity.FormatSeconds(latest)))
	}
	n := len(r.echoes) - 1
	if n < slowLeast || r.Window != "" || r.Flood || r.Burst {
		return
	}
	if apart := r.echoes[n].sent.Sub(r.echoes[0].sent) / time.Duration(n); late == 0 && float64(apart) > slowPace*float64(r.Interval) {
		result.Note(fmt.Sprintf("requests left %v apart on average, and not %v: this host sends no faster", apart.Round(apart/100+1), r.Interval))
	}
}

// A host is called too slow for an interval where slowLeast requests and more took slowPace times as long as planned: by less, drawn intervals
// differ from their mean by chance.
const (
	slowPace  = 1.25
	slowLeast = 1000
)
