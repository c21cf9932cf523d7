package browser

import (
	"fmt"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// flowsResult is of flows both ways, of which the second was lost wholly for a while and nobody told what came of the last.
func flowsResult(at time.Time) *measure.Result {
	r := ended("flows", "flows", "ucl", "cern", at)
	r.Way = measure.Both
	r.Metrics = map[measure.Metric]float64{measure.SentPackets: 100, measure.LostPackets: 10, measure.LossRatio: 0.1}
	flow := func(name, direction string) measure.FlowSample {
		f := measure.FlowSample{Name: name, Direction: direction, EndSeconds: 1, Sent: 50, SentBytes: 5000, LateP95Seconds: 1e-4}
		over := &measure.FlowOverTime{IntervalSeconds: 0.1}
		for i := range 10 {
			over.Sent, over.Received, over.ReceivedBytes = append(over.Sent, 5), append(over.Received, 5-i%2), append(over.ReceivedBytes, int64(500-100*(i%2)))
			over.DelayMean, over.DelayMax = append(over.DelayMean, new(0.001)), append(over.DelayMax, new(0.002*float64(i)))
		}
		f.Arrived = &measure.FlowArrivals{Received: 45, Lost: 5, BitsPerSecond: 36000, IPDVP95Seconds: 0.003, OverTime: over}
		return f
	}
	r.Samples.Flows = []measure.FlowSample{flow("voice", measure.Forward), flow("video", measure.Reverse)}
	lost := r.Samples.Flows[1].Arrived.OverTime
	lost.Received[4], lost.ReceivedBytes[4], lost.DelayMean[4], lost.DelayMax[4] = 0, 0, nil, nil
	for i := range 5 {
		r.Samples.Flows = append(r.Samples.Flows, flow(fmt.Sprintf("more-%d", i), measure.Forward))
	}
	r.Samples.Flows = append(r.Samples.Flows, measure.FlowSample{Name: "unheard", Direction: measure.Forward, EndSeconds: 1, Sent: 7})
	return r
}

// The Result of flows has a row of each, and draws its rate, loss and delay over time: of some at once, of the others when somebody wants them.
func TestFlows(t *testing.T) {
	r := flowsResult(time.Now().Add(-time.Minute))
	p := openResult(t, r)
	const of = "document.querySelector('section[aria-labelledby=flows]')"
	p.until(of + "?.querySelectorAll('tbody tr').length === 8")
	p.until("[...document.querySelectorAll('section[aria-labelledby=flows] tbody tr')].map((r) => [...r.cells].map((c) => c.textContent.replaceAll('\\u00a0', ' ')).join()).filter((_, i) => i % 6 === 1).join('; ') === " +
		"'video,reverse,50,0,5,10 %,0,0,0,36.0 kbit/s,3.00 ms,100 µs; unheard,forward,7,0,?,?,?,?,?,?,?,0 ms'")
	p.until(of + ".querySelectorAll('svg').length === 12 && " + of + ".querySelectorAll('svg .lost').length === 1")
	p.click(of + ".querySelector('summary')")
	p.until(of + ".querySelectorAll('svg').length === 21")
	p.unharmed()
	p.accessible("flows")
	p.picture("flows")
	p.show("#/result/"+r.ID, phone, true)
	p.until(of + " && document.documentElement.scrollWidth <= innerWidth")
	p.accessible("flows, phone, dark")
}
