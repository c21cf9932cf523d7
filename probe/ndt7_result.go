package probe

import (
	"fmt"
	"io"
	"net/netip"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/ndt7"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// directionOf is which way a test's data goes, as its caller sees it.
func directionOf(test string) string {
	if test == ndt7.Upload {
		return measure.Forward
	}
	return measure.Reverse
}

// ndt7Interval is what this end moved in a part of a test.
func ndt7Interval(test string, i ndt7.Interval) measure.Interval {
	end := measure.Receiver
	if test == ndt7.Upload {
		end = measure.Sender
	}
	one := measure.Interval{Stream: 1, Direction: directionOf(test), End: end, StartSeconds: i.Start.Seconds(), EndSeconds: i.End.Seconds(), Bytes: i.Bytes}
	if length := one.EndSeconds - one.StartSeconds; length > 0 {
		one.BitsPerSecond = float64(i.Bytes) * 8 / length
	}
	return one
}

// fillNDT7 adds what came of one test to a Result.
func fillNDT7(r *measure.Result, report *ndt7.Report) {
	if report.Local.IsValid() {
		r.Source.Address, r.Target.Address = report.Local.Addr().String(), report.Remote.Addr().String()
	}
	direction, here, there := directionOf(report.Test), measure.Receiver, measure.Sender
	if report.Test == ndt7.Upload {
		here, there = there, here
	}
	for _, i := range report.Intervals {
		r.Samples.Intervals = append(r.Samples.Intervals, ndt7Interval(report.Test, i))
	}
	for _, s := range report.Samples {
		r.Samples.TCPInfo = append(r.Samples.TCPInfo, measure.TCPSample{End: here, Direction: direction, Stream: 1,
			ElapsedSeconds: s.Elapsed.Seconds(), Values: s.Values})
	}
	for _, m := range report.Told {
		if values := m.TCPInfo.Values(); len(values) > 0 {
			r.Samples.TCPInfo = append(r.Samples.TCPInfo, measure.TCPSample{End: there, Direction: direction, Stream: 1,
				ElapsedSeconds: float64(m.TCPInfo[ndt7.ElapsedTime]) / 1e6, Values: values})
		}
	}
	if report.Local.IsValid() {
		r.Samples.Ends = append(r.Samples.Ends, measure.TCPEnd{End: here, Direction: direction, Stream: 1, Host: r.Source.Name,
			CongestionControl: report.Congestion})
	}
	rate, bytes := measure.Throughput, measure.ReceivedBytes
	if r.Way == measure.Both && direction == measure.Reverse {
		rate, bytes = measure.ReverseThroughput, measure.ReverseReceivedBytes
	}
	if v := report.BitsPerSecond(); v > 0 {
		r.Metrics[rate], r.Metrics[bytes] = v, float64(report.Bytes)
	} else if report.Moved > 0 {
		r.Note(report.Test + ": the server told nothing of what it received, so that there is no figure")
	}
	if direction == measure.Forward || r.Way == measure.Reverse {
		addSenderTCP(r, direction)
	}
	addTrips(r)
	addTranslation(r, report)
	for _, note := range report.Notes {
		r.Note(report.Test + ": " + note)
	}
}

// addTranslation notes that the server saw another address of this host than this host does.
func addTranslation(r *measure.Result, report *ndt7.Report) {
	for _, m := range report.Told {
		if m.ConnectionInfo == nil {
			continue
		}
		seen, err := netip.ParseAddrPort(m.ConnectionInfo.Client)
		if err != nil || !seen.IsValid() || seen.Addr().Unmap() == report.Local.Addr() {
			return
		}
		note := fmt.Sprintf("addresses are translated on the way (NAT): the target saw %v where this host has %v", seen.Addr().Unmap(), report.Local.Addr())
		if !slices.Contains(r.Notes, note) {
			r.Note(note)
		}
		return
	}
}

// addSenderTCP adds what the sender's kernel says of the way that the throughput is of.
func addSenderTCP(r *measure.Result, direction string) {
	readings := r.Samples.Readings(direction, measure.Sender)
	if len(readings) == 0 {
		return
	}
	last, cwnd := readings[len(readings)-1], 0.0
	for _, s := range readings {
		cwnd = max(cwnd, s.Values["snd_cwnd_packets"]*s.Values["snd_mss_bytes"])
	}
	if cwnd > 0 {
		r.Metrics[measure.CwndMax] = cwnd
	}
	for metric, value := range map[measure.Metric]string{measure.Retransmits: "total_retrans_packets", measure.RetransmittedBytes: "bytes_retrans"} {
		if v, has := last.Get(value); has {
			r.Metrics[metric] = v
		}
	}
	for metric, value := range map[measure.Metric]string{measure.RwndLimitedRatio: "rwnd_limited_seconds", measure.SndbufLimitedRatio: "sndbuf_limited_seconds"} {
		if v, has := last.Get(value); has && last.ElapsedSeconds > 0 {
			r.Metrics[metric] = min(1, v/last.ElapsedSeconds)
		}
	}
}

// addTrips adds the least round trip that any end saw in each way.
func addTrips(r *measure.Result) {
	var least []float64
	for _, direction := range []string{measure.Reverse, measure.Forward} {
		trips := valuesOf(append(r.Samples.Readings(direction, measure.Sender), r.Samples.Readings(direction, measure.Receiver)...), "min_rtt_seconds")
		if len(trips) > 0 {
			least = append(least, slices.Min(trips))
		}
	}
	if len(least) > 0 {
		r.Metrics[measure.RTTMin] = slices.Min(least)
		r.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: distributionOf(least)}
	}
}

// valuesOf are those of a field that samples have.
func valuesOf(samples []measure.TCPSample, name string) (all []float64) {
	for _, s := range samples {
		if v, has := s.Get(name); has {
			all = append(all, v)
		}
	}
	return all
}

// ndt7Text writes how fast data moved each way, what round trips were like meanwhile, and what held the senders.
func ndt7Text(w io.Writer, r *measure.Result) {
	for _, way := range []struct {
		name, direction string
		rate            measure.Metric
	}{{"from the target", measure.Reverse, measure.ReverseThroughput}, {"to the target", measure.Forward, measure.Throughput}} {
		if r.Way != measure.Both {
			way.rate = measure.Throughput
		}
		rate, has := r.Get(way.rate)
		if !has || r.Way != measure.Both && string(r.Way) != way.direction {
			continue
		}
		fmt.Fprintf(w, "%-22s %s", way.name, quantity.FormatRate(rate))
		senders := r.Samples.Readings(way.direction, measure.Sender)
		if trips := valuesOf(senders, "rtt_seconds"); len(trips) > 0 {
			slices.Sort(trips)
			fmt.Fprintf(w, ", round trip under load %s", quantity.FormatSeconds(stat.Median(trips)))
		}
		if len(senders) > 0 {
			last := senders[len(senders)-1]
			if sent := last.Values["bytes_sent"]; sent > 0 {
				fmt.Fprintf(w, ", %s resent", percent(last.Values["bytes_retrans"]/sent))
			}
			fmt.Fprint(w, heldText(last))
		}
		fmt.Fprintln(w)
	}
	metricLine(w, r)("least round trip", measure.RTTMin, quantity.FormatSeconds)
}

// heldShare is from when on it is told that a window held a sender: before the windows have grown each does.
const heldShare = 0.2

// heldText says which window held a sender for much of its time.
func heldText(last measure.TCPSample) string {
	for _, held := range []struct{ name, value string }{{"receive window", "rwnd_limited_seconds"}, {"send buffer", "sndbuf_limited_seconds"}} {
		if v := last.Values[held.value]; last.ElapsedSeconds > 0 && v >= heldShare*last.ElapsedSeconds {
			return fmt.Sprintf(", held by the %s for %s", held.name, percent(min(1, v/last.ElapsedSeconds)))
		}
	}
	return ""
}
