package probe

import (
	"fmt"
	"io"

	"github.com/pathwise-net/pathwise/analysis/hops"
	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// report files what is known of the links of a route. A rate that is not certain is in the samples, and no metric.
func (h *hopsRun) report(links []hops.Link, r *measure.Result) {
	sent, answered, known := 0, 0, 0
	r.Samples.Links = []measure.LinkSample{}
	for _, l := range links {
		r.Samples.Links = append(r.Samples.Links, linkSample(l))
		sent, answered = sent+l.Sent, answered+l.Answered
		if l.Rate.Certain() {
			known++
		}
	}
	r.Metrics[measure.SentPackets], r.Metrics[measure.ReceivedPackets] = float64(sent), float64(answered)
	r.Metrics[measure.SentBytes], r.Metrics[measure.KnownLinks] = float64(h.bytes), float64(known)
	if at, ok := hops.Narrowest(links); ok && h.study.Reached() {
		r.Metrics[measure.NarrowestLink] = links[at].Rate.BitsPerSecond
	}
	switch {
	case h.study.Reached():
		r.Metrics[measure.HopCount] = float64(len(links))
	case len(links) > 0:
		r.Note(fmt.Sprintf("the target did not answer; the last hop that did has TTL %d", len(links)))
	}
	if n := len(links); n > 0 && links[n-1].Rate.Doubt == hops.Limited && h.study.Reached() && h.syn.Socket == nil {
		r.Note("as root, the last hop is asked by SYNs, whose answers hosts do not limit")
	}
	if h.late {
		r.Note(fmt.Sprintf("it ran out of time after %v: links and hops that were not known by then are not", hopsFor+hopsSurvey))
	}
	if h.coarse > answered/10 {
		r.Note(fmt.Sprintf("the kernel stamped %d of %d answers: the others are as late as this program was", answered-h.coarse, answered))
	}
}

// linkSample is a link as a Result has it.
func linkSample(l hops.Link) measure.LinkSample {
	s := measure.LinkSample{TTL: l.TTL, Addresses: []string{}, Sent: l.Sent, Received: l.Answered, Capacity: measure.RateEstimate{
		BitsPerSecond: l.Rate.BitsPerSecond, Low: l.Rate.Low, High: l.Rate.High, Certain: l.Rate.Certain(), Doubt: string(l.Rate.Doubt)}}
	for _, a := range l.From {
		s.Addresses = append(s.Addresses, a.String())
	}
	if l.Delay >= 0 {
		s.Delay = new(l.Delay)
	}
	if l.Queue >= 0 {
		s.Queue = new(l.Queue)
	}
	return s
}

// linksText writes a line for each link, the narrowest one first.
func linksText(w io.Writer, r *measure.Result) {
	answer := "the narrowest link is not known"
	if rate, ok := r.Get(measure.NarrowestLink); ok {
		answer = quantity.FormatRate(rate) + " at the narrowest link"
	}
	known, _ := r.Get(measure.KnownLinks)
	fmt.Fprintf(w, "%s (%s): %s; %.0f of %d links known\n", r.Target.Name, r.Target.Address, answer, known, len(r.Samples.Links))
	if len(r.Samples.Links) == 0 {
		return
	}
	rows := [][]string{{"hop", "address", "rate", "between", "delay", "queue", ""}}
	for _, l := range r.Samples.Links {
		who := "-"
		if len(l.Addresses) > 0 {
			who = l.Addresses[0]
		}
		rows = append(rows, []string{fmt.Sprint(l.TTL), who, linkRateText(l.Capacity), linkInterval(l.Capacity), secondsText(l.Delay), secondsText(l.Queue), l.Capacity.Doubt})
	}
	for _, line := range chart.Table(rows, 1, 6) {
		fmt.Fprintln(w, line)
	}
}

func linkRateText(e measure.RateEstimate) string {
	if e.BitsPerSecond == 0 {
		return "-"
	}
	return rateText(e)
}

func linkInterval(e measure.RateEstimate) string {
	switch {
	case e.Low == 0:
		return "-"
	case e.High == 0:
		return "from " + quantity.FormatRate(e.Low) + " up"
	}
	return quantity.FormatRate(e.Low) + " to " + quantity.FormatRate(e.High)
}

func secondsText(v *float64) string {
	if v == nil {
		return "-"
	}
	return quantity.FormatSeconds(*v)
}
