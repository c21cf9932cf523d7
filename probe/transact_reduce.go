package probe

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/transact"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// report fills in what was measured.
func (r *transactRun) report(result *measure.Result) {
	result.Samples.Transactions = r.all
	result.Metrics = reduceTransactions(r.all, r.opened)
	if len(r.all) == 0 {
		return
	}
	result.Metrics[measure.Retransmits] = float64(r.retrans)
	if len(r.secured) > 0 {
		result.Metrics[measure.HandshakeTime] = stat.Summarize(r.secured).Median
	}
	if r.minRTT > 0 {
		ideal := model.TransactionTime(model.Transaction{
			Turns: r.Turns, Request: float64(r.Request), Answer: float64(r.Response), RTT: r.minRTT, Rate: float64(r.Rate),
			New: r.New, SlowStart: model.SlowStart{MSS: float64(r.mss)}})
		if r.Connect {
			ideal = time.Duration(1+r.tlsTrip) * r.minRTT
		}
		result.Metrics[measure.TransactionIdeal] = ideal.Seconds()
	}
	result.Distributions = map[measure.Metric]measure.Distribution{}
	var times []float64
	for _, t := range r.all {
		if t.Seconds != nil {
			times = append(times, *t.Seconds)
		}
	}
	for name, values := range map[measure.Metric][]float64{measure.TransactionTimes: times, measure.ConnectTimes: r.opened} {
		if len(values) > 0 {
			result.Distributions[name] = distributionOf(values)
		}
	}
}

func distributionOf(values []float64) measure.Distribution {
	var s stat.Sketch
	for _, v := range values {
		s.Add(v)
	}
	return measure.NewDistribution(&s)
}

// reduceTransactions turns transactions, and the times that connections took to open, into metrics. Without transactions there are none.
func reduceTransactions(all []measure.Transaction, opened []float64) map[measure.Metric]float64 {
	metrics := map[measure.Metric]float64{}
	if len(all) == 0 {
		return metrics
	}
	var times []float64
	for _, t := range all {
		if t.Seconds != nil {
			times = append(times, *t.Seconds)
		}
	}
	metrics[measure.TransactionsDone] = float64(len(times))
	metrics[measure.TransactionsFailed] = float64(len(all) - len(times))
	if len(times) > 0 {
		s := stat.Summarize(times)
		metrics[measure.TransactionMin], metrics[measure.TransactionMedian] = s.Min, s.Median
		metrics[measure.TransactionP95], metrics[measure.TransactionMax] = s.P95, s.Max
	}
	if len(opened) > 0 {
		s := stat.Summarize(opened)
		metrics[measure.ConnectMin], metrics[measure.ConnectMedian], metrics[measure.ConnectMax] = s.Min, s.Median, s.Max
	}
	return metrics
}

// addAccount adds what the far end saw.
func addAccount(r *measure.Result, a transact.Account) {
	r.Metrics[measure.Retransmits] += float64(a.Retransmits)
	if a.Exchanges > 0 {
		r.Metrics[measure.RequestGather], r.Metrics[measure.AnswerTime] = a.GatherMean.Seconds(), a.AnswerMean.Seconds()
	}
}

// TransactionLine is a transaction as it is told on the way.
func TransactionLine(t measure.Transaction) string {
	line := fmt.Sprintf("%5d  ", t.Seq)
	if t.Seconds == nil {
		return line + "failed: " + t.Error
	}
	line += quantity.FormatSeconds(*t.Seconds)
	if t.ConnectSeconds != nil {
		line += ", of which " + quantity.FormatSeconds(*t.ConnectSeconds) + " to connect"
	}
	if t.Retransmits > 0 {
		line += ", " + quantity.FormatCount(int(t.Retransmits), "packet") + " sent again"
	}
	return line
}

// transactText writes what people want to know of transactions: what they took, what the path makes of that, and what came on top.
func transactText(w io.Writer, r *measure.Result) {
	m := r.Metrics
	asked := func(name string) float64 { v, _ := r.Parameters[name].(float64); return v }
	what, all, failed := "transactions", m[measure.TransactionsDone]+m[measure.TransactionsFailed], m[measure.TransactionsFailed]
	only, _ := r.Parameters["connect"].(bool)
	if only {
		what = "connections"
	}
	fmt.Fprintf(w, "%s (%s): %.0f %s, %.0f failed", r.Target.Name, r.Target.Address, all, what, failed)
	if !only {
		fmt.Fprintf(w, "; %s in %s, %s back", quantity.FormatSize(int64(asked("request"))), quantity.FormatCount(int(asked("writes")), "write"),
			quantity.FormatSize(int64(asked("response"))))
	}
	if turns := asked("turns"); turns > 1 {
		fmt.Fprintf(w, ", in %.0f turns", turns)
	}
	fmt.Fprintln(w)
	line := func(name string, all ...measure.Metric) {
		var parts, values []string
		for _, q := range all {
			if v, measured := r.Get(q); measured {
				words := strings.Split(string(q), "_")
				parts, values = append(parts, words[1]), append(values, quantity.FormatSeconds(v))
			}
		}
		if len(values) > 0 {
			fmt.Fprintf(w, "%s %s = %s\n", name, strings.Join(parts, "/"), strings.Join(values, " / "))
		}
	}
	if !only {
		line("transaction", measure.TransactionMin, measure.TransactionMedian, measure.TransactionP95, measure.TransactionMax)
	}
	line("connection opened", measure.ConnectMin, measure.ConnectMedian, measure.ConnectMax)
	if v, measured := r.Get(measure.HandshakeTime); measured {
		fmt.Fprintf(w, "handshake of TLS median = %s\n", quantity.FormatSeconds(v))
	}
	excessText(w, r)
	for _, sentence := range toldOf(r).explain() {
		fmt.Fprintln(w, sentence)
	}
}

// excessText writes what the path alone would take, what the usual transaction takes beyond that, and where it is spent, as far as both
// ends saw it.
func excessText(w io.Writer, r *measure.Result) {
	ideal, known := r.Get(measure.TransactionIdeal)
	if !known {
		return
	}
	fmt.Fprintf(w, "the path alone takes %s", quantity.FormatSeconds(ideal))
	if median, any := r.Get(measure.TransactionMedian); any {
		fmt.Fprintf(w, ", the usual one %s more", quantity.FormatSeconds(max(0, median-ideal)))
	}
	fmt.Fprintln(w)
	if gather, told := r.Get(measure.RequestGather); told && gather > max(noticed, ideal/4) {
		fmt.Fprintf(w, "the far end waited %s for the rest of a request\n", quantity.FormatSeconds(gather))
	}
	if again := r.Metrics[measure.Retransmits]; again > 0 {
		fmt.Fprintf(w, "%s sent again\n", quantity.FormatCount(int(again), "packet"))
	}
}

// noticed is the time in seconds that is worth a line, where it is no small part of what the path takes: less than that is the far end
// reading what has come.
const noticed = 0.001
