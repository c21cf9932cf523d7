package browser

import (
	"context"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Tools that measured what a pair carries stand beside each other on its page, and a transfer beside another one on the page of its Result.
func TestToolsBesideEachOther(t *testing.T) {
	m := newPlayed(t)
	var all []*measure.Result
	for i, v := range []float64{90e6, 100e6, 110e6} {
		at := time.Now().Add(-time.Duration(i+1) * 20 * time.Minute)
		bulk := ended("throughput", "bulk", "ucl", "dl", at)
		bulk.Metrics[measure.Throughput], bulk.Metrics[measure.SentBytes], bulk.DurationSeconds = v, 125e6, 10
		quick := ended("capacity", "quick", "ucl", "dl", at.Add(time.Minute))
		quick.Metrics[measure.Capacity], quick.DurationSeconds = 75e6, 1
		all = append(all, bulk, quick)
	}
	some, other := 0.02, measure.BesideFlow{CongestionControl: "bbr", BitsPerSecond: 60e6, ShareRatio: 0.75, RetransmittedRatio: new(float64)}
	shared := ended("throughput", "share", "ucl", "dl", time.Now().Add(-90*time.Minute))
	shared.Samples.Beside = []measure.BesideSample{{Tested: measure.BesideFlow{CongestionControl: "cubic", BitsPerSecond: 90e6, ShareRatio: 1}},
		{CongestionControl: "bbr", Tested: measure.BesideFlow{CongestionControl: "cubic", BitsPerSecond: 20e6, ShareRatio: 0.25, RetransmittedRatio: &some}, Competing: &other,
			Metrics: map[measure.Metric]float64{measure.FairnessRatio: 0.8, measure.LoadedRTTMedian: 0.068, measure.BufferDelay: 0.048}},
		{CongestionControl: "vegas", Failure: "there is none"}}
	must(t, m.hub.receiver.File(context.Background(), "ucl", append(all, shared)))
	p := open(t, desk, m.url+"#/pair/ucl/dl?from=-6h")
	p.withAxe()
	p.until("document.querySelector('.later')")
	p.until("(document.querySelector('.later')?.scrollIntoView(), document.querySelector('#tools')?.parentElement.querySelector('tbody'))")
	for _, want := range []string{"100 Mbit/s", "within 20 %", "the reference", "−25 %", "75.0 Mbit/s", "125 MB", "not told"} {
		p.says("section[aria-labelledby=tools]", want)
	}
	p.accessible("tools beside each other")
	p.show("#/result/"+shared.ID, desk, false)
	p.until("document.querySelector('#beside')")
	for _, want := range []string{"tested cubic", "20.0 Mbit/s", "60.0 Mbit/s", "25 %", "0.800", "48.0 ms", "there is none"} {
		p.says("section[aria-labelledby=beside]", want)
	}
	p.accessible("beside a competing flow")
}
