package probe

import (
	"fmt"
	"math"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

const (
	// flowLetters is how wide the drawing of a figure is: three of them stand beside each other.
	flowLetters = 20
	// leastDrawn intervals are worth a drawing.
	leastDrawn = 4
)

// flowsDrawing draws of each flow its rate, its loss and the delay above its least one, over the time that the script gives it; none where too little is known.
func flowsDrawing(all []measure.FlowSample) []string {
	rows := [][]string{{"over time", "rate", "up to", "loss", "up to", "delay added", "up to"}}
	for i := range all {
		f := &all[i]
		if f.Arrived == nil || f.Arrived.OverTime == nil {
			continue
		}
		rate, loss, delay := flowLines(f)
		if len(rate) < leastDrawn {
			continue
		}
		row := []string{f.Name}
		for _, one := range []struct {
			values []float64
			text   func(float64) string
		}{{rate, quantity.FormatRate}, {loss, quantity.FormatRatio}, {delay, quantity.FormatSeconds}} {
			row = append(row, chart.Sparkline(one.values, 0, flowLetters, false), one.text(highest(one.values)))
		}
		rows = append(rows, row)
	}
	if len(rows) == 1 {
		return nil
	}
	return chart.Table(rows, 0, 1, 3, 5)
}

// flowLines are the figures of a flow in each interval of its time: NaN is a delay of packets that were all lost.
func flowLines(f *measure.FlowSample) (rate, loss, delay []float64) {
	o := f.Arrived.OverTime
	first, end := int(f.StartSeconds/o.IntervalSeconds), int(math.Ceil(f.EndSeconds/o.IntervalSeconds-1e-9))
	for i := first; i < min(end, len(o.Sent), len(o.Received), len(o.ReceivedBytes), len(o.DelayMax)); i++ {
		lost, late := 0., 0.
		if o.Sent[i] > 0 {
			lost, late = float64(o.Sent[i]-o.Received[i])/float64(o.Sent[i]), math.NaN()
		}
		if o.DelayMax[i] != nil {
			late = *o.DelayMax[i]
		}
		from, until := max(f.StartSeconds, float64(i)*o.IntervalSeconds), min(f.EndSeconds, float64(i+1)*o.IntervalSeconds)
		rate, loss, delay = append(rate, 8*float64(o.ReceivedBytes[i])/max(until-from, 1e-3)), append(loss, max(0, lost)), append(delay, late)
	}
	return rate, loss, delay
}

// highest is the largest of some values that are there; 0: none is.
func highest(values []float64) (most float64) {
	for _, v := range values {
		if v > most { // not NaN
			most = v
		}
	}
	return most
}

// flowDirection says which way a flow goes where not all go forward.
func flowDirection(all []measure.FlowSample, f *measure.FlowSample) string {
	for i := range all {
		if all[i].Direction == measure.Reverse {
			return fmt.Sprintf("%s (%s)", f.Name, f.Direction)
		}
	}
	return f.Name
}
