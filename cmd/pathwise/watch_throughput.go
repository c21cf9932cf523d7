package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/terminal"
)

// throughputWatch shows a line for each interval, with what this end's kernel says of the connections, and below it how the rate went.
type throughputWatch struct {
	*terminal.Screen
	target   string
	fetch    bool   // a file is read: over one connection, of which this end only receives
	way      string // of the trials of a search
	headed   bool
	rates    map[string][]float64                 // of intervals, by direction
	readings map[string]map[int]measure.TCPSample // the latest, by direction and stream
	result   *measure.Result
}

func newThroughputWatch(screen *terminal.Screen, task measure.Task) *throughputWatch {
	return &throughputWatch{Screen: screen, target: task.Target, fetch: task.Kind == "fetch", way: wayOf(task), rates: map[string][]float64{},
		readings: map[string]map[int]measure.TCPSample{measure.Forward: {}, measure.Reverse: {}}}
}

// wayOf is the way in which a test of one way sends.
func wayOf(task measure.Task) string {
	if task.Parameters["reverse"] == true {
		return measure.Reverse
	}
	return measure.Forward
}

func (t *throughputWatch) equip(_ context.Context, _ int, o probe.Options, live *terminal.Live) probe.Options {
	o.Interval = func(i measure.Interval) {
		if i.Stream != 0 && !t.fetch { // its sum is told as well
			return
		}
		var lines []string
		live.Change(func() { lines = t.lines(i) })
		for _, line := range lines {
			live.Print(line)
		}
	}
	o.Trial = func(one measure.Trial) {
		var line string
		live.Change(func() { line = t.trial(one) })
		live.Print(line)
	}
	o.Reading = func(s measure.TCPSample) { live.Change(func() { t.readings[s.Direction][s.Stream] = s }) }
	return o
}

// trial takes one of a search into account and returns what is printed of it.
func (t *throughputWatch) trial(one measure.Trial) string {
	t.rates[t.way] = append(t.rates[t.way], one.ReceivedBitsPerSecond)
	line := probe.TrialLine(one)
	if one.Failure != "" {
		line = t.Warn(line)
	}
	return line
}

// intervalRow is an interval's line, and the heading of all.
const intervalRow = "%15s  %14s  %10s  %10s  %6s  %s"

// lines takes an interval into account and returns what is printed of it.
func (t *throughputWatch) lines(i measure.Interval) (lines []string) {
	if !t.headed {
		t.headed = true
		resent := "resent"
		if t.fetch {
			resent = ""
		}
		lines = []string{t.Strong(strings.TrimRight(fmt.Sprintf(intervalRow, "seconds", "rate", "round trip", "window", resent, ""), " "))}
	}
	t.rates[i.Direction] = append(t.rates[i.Direction], i.BitsPerSecond)
	rtt, window := roundTripAndWindow(t.readings[i.Direction])
	resent, way := "-", ""
	switch {
	case t.fetch:
		resent = "" // the server alone knows
	case i.Retransmits != nil:
		resent = fmt.Sprint(*i.Retransmits)
	}
	if i.Direction == measure.Reverse && !t.fetch {
		way = "from " + t.target
	}
	line := fmt.Sprintf(intervalRow, fmt.Sprintf("%.2f - %.2f", i.StartSeconds, i.EndSeconds), quantity.FormatRate(i.BitsPerSecond), rtt, window, resent, way)
	if i.Retransmits != nil && *i.Retransmits > 0 {
		line = t.Warn(line)
	}
	return append(lines, strings.TrimRight(line, " "))
}

// roundTripAndWindow is what the kernel of one end says of all streams of a direction: the mean of their round trips, and how much they may
// have under way together: the sender's congestion windows, or what the receiver offers.
func roundTripAndWindow(streams map[int]measure.TCPSample) (rtt, window string) {
	var sum, known, bytes float64
	offers := false // a receiver that is late offers nothing: 0 bytes
	for _, s := range streams {
		name := "rcv_rtt_seconds"
		if s.End == measure.Sender {
			name = "rtt_seconds"
			bytes += s.Values["snd_cwnd_packets"] * s.Values["snd_mss_bytes"]
		} else {
			offered, told := s.Get("rcv_wnd_bytes")
			bytes, offers = bytes+offered, offers || told
		}
		if v, told := s.Get(name); told {
			sum, known = sum+v, known+1
		}
	}
	rtt, window = "-", "-"
	if known > 0 {
		rtt = quantity.FormatSeconds(sum / known)
	}
	if bytes > 0 || offers {
		window = quantity.FormatSize(int64(bytes))
	}
	return rtt, window
}

func (t *throughputWatch) view(columns int) []string {
	if len(t.rates) == 0 {
		doing := "moving data to or from "
		if t.fetch {
			doing = "reading from "
		}
		return []string{t.Faint(doing + t.target + "…")}
	}
	return append([]string{""}, t.sparks(columns)...)
}

// sparks is how the rate of each direction went.
func (t *throughputWatch) sparks(columns int) (lines []string) {
	for _, way := range []string{measure.Forward, measure.Reverse} {
		rates := t.rates[way]
		if len(rates) == 0 {
			continue
		}
		most := 0.
		for _, v := range rates {
			most = math.Max(most, v)
		}
		const words = 40 // columns for what stands beside it
		name := way
		if t.fetch {
			name = "rate"
		}
		lines = append(lines, fmt.Sprintf("%-9s%s  up to %s", name, t.Accent(chart.Sparkline(rates, 0, max(columns-words, 1), t.ASCII)),
			t.Strong(quantity.FormatRate(most))))
	}
	return lines
}

func (t *throughputWatch) finished(_ int, r *measure.Result, _ error) { t.result = r }

func (t *throughputWatch) outcome(w io.Writer, columns int) {
	if lines := t.sparks(columns); len(lines) > 0 {
		fmt.Fprintln(w, "\n"+strings.Join(lines, "\n"))
	}
	if t.result == nil || t.result.Status == measure.StatusFailed {
		return
	}
	fmt.Fprintln(w)
	if k, known := probe.KindOf(t.result.Kind); known {
		k.Text(w, t.result)
	}
	for _, line := range endLines(t.result, columns-1) {
		fmt.Fprintln(w, line)
	}
}

// endLines say of both ends of each direction how they send and receive: of the first stream, as all are set alike.
func endLines(r *measure.Result, width int) (lines []string) {
	indent := strings.Repeat(" ", 23) // of values behind their names, as the kind's text has them
	told := map[string]bool{}
	for _, e := range r.Samples.Ends {
		key := e.End + e.Direction
		if told[key] {
			continue
		}
		told[key] = true
		parts := []string{e.Host}
		if e.CongestionControl != "" {
			parts = append(parts, e.CongestionControl)
		}
		if e.MSSBytes > 0 {
			parts = append(parts, fmt.Sprintf("segments of %d bytes", e.MSSBytes))
		}
		buffer := e.ReceiveBufferBytes
		if e.End == measure.Sender {
			buffer = e.SendBufferBytes
		}
		if buffer > 0 {
			parts = append(parts, "buffer "+quantity.FormatSize(int64(buffer)))
		}
		last := map[int]measure.TCPSample{}
		for _, s := range r.Samples.Readings(e.Direction, e.End) {
			last[s.Stream] = s
		}
		rtt, window := roundTripAndWindow(last)
		if rtt != "-" && e.End == measure.Sender { // a receiver's is how long its window takes to be filled
			parts = append(parts, "round trip "+rtt)
		}
		if window != "-" {
			parts = append(parts, "window "+window)
		}
		text := chart.Fold(strings.Join(parts, ", "), indent, width)
		lines = append(lines, fmt.Sprintf("%-22s %s", e.End+", "+e.Direction, strings.TrimPrefix(text, indent)))
	}
	return lines
}
