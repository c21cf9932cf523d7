package probe

import (
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// besideName says beside what a run was.
func besideName(one measure.BesideSample) string {
	if one.CongestionControl == "" {
		return "alone"
	}
	return "beside " + one.CongestionControl
}

// besideLine is a run as it is told on the way.
func besideLine(one measure.BesideSample) string {
	line := fmt.Sprintf("%-16s  %14s", besideName(one), quantity.FormatRate(one.Tested.BitsPerSecond))
	switch {
	case one.Failure != "":
		return fmt.Sprintf("%-16s  failed: %s", besideName(one), one.Failure)
	case one.Competing == nil:
		return line
	}
	return line + fmt.Sprintf("  to %14s  fairness %.3f", quantity.FormatRate(one.Competing.BitsPerSecond), one.Metrics[measure.FairnessRatio])
}

// besideText writes a table with a row for each run, and names the congestion control of the tested flow.
func besideText(w io.Writer, samples []measure.BesideSample) {
	rows := [][]string{{"", "got", "the other", "share", "fairness", "round trip", "queue", "resent", "the other"}}
	for _, one := range samples {
		rows = append(rows, besideRow(one))
	}
	fmt.Fprintln(w, strings.Join(chart.Table(rows), "\n"))
	by := ""
	if samples[0].RoundTripsBy != "" {
		by = "; round trips are the medians under load, by " + loadedWords(samples[0].RoundTripsBy)
	}
	name := samples[0].Tested.CongestionControl
	if name == "" {
		name = "a congestion control that is not known"
	}
	fmt.Fprintf(w, "\ntested: %s%s\n", name, by)
}

// besideRow is a run as a row; what is not known is "-".
func besideRow(one measure.BesideSample) []string {
	row := []string{besideName(one)}
	if one.Failure != "" {
		return append(row, "failed") // a note says why
	}
	seconds := func(m measure.Metric) string {
		if v, known := one.Metrics[m]; known {
			return quantity.FormatSeconds(v)
		}
		return "-"
	}
	row = append(row, quantity.FormatRate(one.Tested.BitsPerSecond))
	if one.Competing == nil {
		row = append(row, "", "", "")
	} else {
		row = append(row, quantity.FormatRate(one.Competing.BitsPerSecond), percent(one.Tested.ShareRatio), fmt.Sprintf("%.3f", one.Metrics[measure.FairnessRatio]))
	}
	row = append(row, seconds(measure.LoadedRTTMedian), seconds(measure.BufferDelay), resentShare(&one.Tested))
	return append(row, resentShare(one.Competing))
}

// resentShare is the share of a flow's bytes that its sender sent again, or how many packets where that is all that is known.
func resentShare(f *measure.BesideFlow) string {
	switch {
	case f == nil:
		return ""
	case f.RetransmittedRatio != nil:
		return quantity.FormatRatio(*f.RetransmittedRatio)
	case f.Retransmits != nil:
		return fmt.Sprintf("%.0f packets", *f.Retransmits)
	}
	return "-"
}
