package probe

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/stat"
)

// sweepPoint is what came of one point.
func sweepPoint(values []any, i int, runs []sweepRun, results []*measure.Result, within float64) measure.SweepPoint {
	point := measure.SweepPoint{Values: values}
	figures, _ := sweepOutcome(runs, i)
	beside := map[measure.Metric][]float64{}
	var of []*measure.Result
	for n, run := range runs {
		switch {
		case run.point != i:
		case run.failure != "":
			point.Failure = run.failure
		default:
			of = append(of, results[n])
			for m, v := range results[n].Metrics {
				if m != measure.Throughput {
					beside[m] = append(beside[m], v)
				}
			}
		}
	}
	if point.N = len(figures); point.N == 0 {
		return point
	}
	low, high := stat.MeanInterval(figures)
	point.Mean = (low + high) / 2
	point.Low, point.High = max(0, low), high // no rate is below 0, though so few runs do not say so
	point.Narrow = point.N >= sweepLeast && isNarrow(figures, within)
	point.Metrics = map[measure.Metric]float64{}
	for m, v := range beside {
		point.Metrics[m] = stat.Median(slices.Sorted(slices.Values(v)))
	}
	point.Window = windowOf(of)
	return point
}

// windowOf is what the sender's kernel told of the receiver's window, of runs of one point; nil: nothing.
func windowOf(results []*measure.Result) *measure.SweepWindow {
	var usable, trips []float64
	streams := 1
	for _, r := range results {
		way := measure.Forward
		if r.Way == measure.Reverse {
			way = measure.Reverse
		}
		var offered []float64
		readings := r.Samples.Readings(way, measure.Sender)
		for _, s := range readings {
			streams = max(streams, s.Stream)
			if s.ElapsedSeconds < narrowStart*readings[len(readings)-1].ElapsedSeconds {
				continue
			}
			if window, trip := s.Values["snd_wnd_bytes"], s.Values["rtt_seconds"]; window > 0 && trip > 0 {
				offered, trips = append(offered, window), append(trips, trip)
			}
		}
		if len(offered) > 0 {
			slices.Sort(offered)
			usable = append(usable, stat.Median(offered))
		}
	}
	if len(usable) == 0 {
		return nil
	}
	slices.Sort(trips)
	trip := stat.Median(trips)
	w := &measure.SweepWindow{UsableBytes: stat.Median(slices.Sorted(slices.Values(usable))), RTTSeconds: trip}
	w.AllowsBitsPerSecond = 8 * w.UsableBytes * float64(streams) / trip
	return w
}

// keepWindows leaves of a run's samples only what windowOf reads. A sweep has hundreds of runs, each with some forty figures of both ends' kernels,
// twenty times a second and stream: together more than the memory of a small host.
func keepWindows(r *measure.Result) {
	var kept []measure.TCPSample
	for _, way := range []string{measure.Forward, measure.Reverse} {
		for _, s := range r.Samples.Readings(way, measure.Sender) {
			values := map[string]float64{}
			for _, name := range []string{"snd_wnd_bytes", "rtt_seconds"} {
				if v, told := s.Values[name]; told {
					values[name] = v
				}
			}
			s.Values = values
			kept = append(kept, s)
		}
	}
	r.Samples = measure.Samples{TCPInfo: kept}
}

// noteMemory says of how many runs a kernel brought what it knew from those before, which the order spreads over all points.
func noteMemory(r *measure.Result, results []*measure.Result) {
	n := 0
	for _, one := range results {
		ends, _ := one.Parameters["kernel_memory"].(map[string]any)
		if slices.ContainsFunc([]string{"source", "target"}, func(end string) bool {
			path, _ := ends[end].(*iperf3.PathRecord)
			return path != nil && path.Memory != nil && !path.Forgotten
		}) {
			n++
		}
	}
	if n > 0 {
		r.Note(fmt.Sprintf("in %d of %d runs a kernel remembered earlier connections on this path and could not be made to forget: their start may show it; "+
			"net.ipv4.tcp_no_metrics_save=1 keeps it from remembering", n, len(results)))
	}
}
