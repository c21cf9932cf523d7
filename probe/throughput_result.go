package probe

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

func interval(i iperf3.IntervalReport) measure.Interval {
	end := measure.Receiver
	if i.Sender {
		end = measure.Sender
	}
	return measure.Interval{Stream: i.Stream, Direction: i.Direction, End: end, StartSeconds: i.StartSeconds,
		EndSeconds: i.EndSeconds, Bytes: i.Bytes, BitsPerSecond: i.BitsPerSecond, Retransmits: i.Retransmits}
}

// fillThroughput turns what the protocol reported into metrics and samples.
func fillThroughput(r *measure.Result, report *iperf3.Report, c *iperf3.Config) {
	if !report.Started.IsZero() {
		r.Started = report.Started.UTC()
	}
	if report.Local.IsValid() {
		r.Source.Address = report.Local.Addr().String()
		r.Target.Address = report.Remote.Addr().String()
	}
	main := measure.Forward
	if c.Reverse {
		main = measure.Reverse
	}
	for _, i := range report.Intervals {
		r.Samples.Intervals = append(r.Samples.Intervals, interval(i))
	}
	addSamples(r, report)
	addEnds(r, report, c)
	if len(report.Streams) > 0 {
		addTotals(r, report, main, c.Proto == iperf3.UDP)
	}
	if c.Bidir {
		back := report.Total(measure.Reverse)
		if back.HaveSent {
			r.Metrics[measure.ReverseSentBytes] = float64(back.SentBytes)
		}
		if back.HaveReceived {
			r.Metrics[measure.ReverseReceivedBytes] = float64(back.ReceivedBytes)
			r.Metrics[measure.ReverseThroughput] = back.Goodput()
		}
	}
	addKernelMemory(r, report)
	if report.ServerOutput != "" {
		r.Samples.Output = &measure.Output{Stdout: report.ServerOutput}
	}
	r.Parameters["peer"] = "iperf3"
	if report.Peer != nil {
		r.Parameters["peer"] = report.Peer.Software
	}
	for _, note := range report.Notes {
		r.Note(note)
	}
}

func addTotals(r *measure.Result, report *iperf3.Report, main string, udp bool) {
	total := report.Total(main)
	if total.HaveReceived {
		r.Metrics[measure.ReceivedBytes] = float64(total.ReceivedBytes)
	}
	if total.HaveReceived && total.ReceivedSeconds > 0 { // iperf3 before 3.2 does not say how long it took
		r.Metrics[measure.Throughput] = total.Goodput()
	}
	if total.HaveSent && total.SentSeconds > 0 {
		r.Metrics[measure.SentRate] = float64(total.SentBytes) * 8 / total.SentSeconds
		r.Metrics[measure.SentBytes] = float64(total.SentBytes)
	}
	if udp {
		addDatagrams(r, main, total)
	} else {
		addTCP(r, report, main, total)
	}
	sender, receiver := &report.CPU, report.RemoteCPU
	if main == measure.Reverse {
		sender, receiver = receiver, sender
	}
	if sender != nil {
		r.Metrics[measure.CPUSender] = sender.Total
	}
	if receiver != nil {
		r.Metrics[measure.CPUReceiver] = receiver.Total
	}
}

// addTCP adds what the sender's kernel says held it back. Shares are of the streams' time together.
func addTCP(r *measure.Result, report *iperf3.Report, main string, total iperf3.Totals) {
	if total.Retransmits != nil {
		r.Metrics[measure.Retransmits] = float64(*total.Retransmits)
	}
	last := map[int]measure.TCPSample{}
	cwnd := 0.0
	readings := r.Samples.Readings(main, measure.Sender)
	for _, s := range readings {
		last[s.Stream] = s
		cwnd = max(cwnd, s.Values["snd_cwnd_packets"]*s.Values["snd_mss_bytes"])
	}
	if len(last) == 0 {
		return
	}
	var elapsed, rwnd, sndbuf, bytes float64
	for stream, s := range last {
		elapsed += s.ElapsedSeconds
		rwnd += s.Values["rwnd_limited_seconds"]
		sndbuf += max(s.Values["sndbuf_limited_seconds"], s.ElapsedSeconds*fullBufferShare(readings, stream))
		bytes += s.Values["bytes_retrans"]
	}
	r.Metrics[measure.CwndMax] = cwnd
	r.Metrics[measure.RetransmittedBytes] = bytes
	if elapsed > 0 {
		r.Metrics[measure.RwndLimitedRatio] = min(1, rwnd/elapsed)
		r.Metrics[measure.SndbufLimitedRatio] = min(1, sndbuf/elapsed)
	}
}

// fullBufferShare is the share of a sender's samples in which its send buffer, and nothing else, held it: the buffer
// had no room for the program, all that was in it was on its way, and neither the congestion window nor the receiver's
// was used up. The kernel's own account (tcpi_sndbuf_limited) starts only when the buffer fills up in the very call
// that sends, so it misses most of what an event-driven program waits.
func fullBufferShare(samples []measure.TCPSample, stream int) float64 {
	full, all := 0.0, 0.0
	for _, s := range samples {
		if s.Stream != stream {
			continue
		}
		all++
		v, mss := s.Values, s.Values["snd_mss_bytes"]
		inFlight := v["unacked_packets"] * mss
		if room, told := s.HasRoom(); told && !room && v["notsent_bytes"] < mss && v["unacked_packets"] < nearlyAll*v["snd_cwnd_packets"] &&
			inFlight+mss < nearlyAll*v["snd_wnd_bytes"] {
			full++
		}
	}
	return full / max(1, all)
}

const nearlyAll = 0.9

func addSamples(r *measure.Result, report *iperf3.Report) {
	direction := map[int]string{}
	for _, s := range report.Streams {
		direction[s.Stream] = s.Direction
	}
	for _, list := range [][]iperf3.Sample{report.Samples, report.PeerSamples} {
		for _, s := range list {
			end := measure.Receiver
			if s.Sender {
				end = measure.Sender
			}
			r.Samples.TCPInfo = append(r.Samples.TCPInfo, measure.TCPSample{
				End: end, Direction: direction[s.Stream], Stream: s.Stream, ElapsedSeconds: s.Elapsed, Values: s.Values})
		}
	}
}

func addEnds(r *measure.Result, report *iperf3.Report, c *iperf3.Config) {
	var theirs *sock.TCPSettings
	var counted sock.Counts
	if report.PeerExtra != nil {
		theirs, counted = report.PeerExtra.Settings, report.PeerExtra.Counts
	}
	for _, s := range report.Streams {
		for _, side := range []struct {
			extra    *iperf3.StreamExtra
			settings *sock.TCPSettings
			counts   sock.Counts
			host     string
		}{{s.LocalExtra, report.Settings, report.Counts, r.Source.Name}, {s.RemoteExtra, theirs, counted, r.Target.Name}} {
			if side.extra == nil {
				continue
			}
			for _, m := range side.extra.Marks {
				r.Samples.Marks = append(r.Samples.Marks, measure.Mark{Direction: s.Direction, DSCP: m.DSCP, Packets: m.Packets})
			}
			end := measure.TCPEnd{End: measure.Receiver, Direction: s.Direction, Stream: s.Stream, Host: side.host,
				CongestionControl: side.extra.Congestion, MSSBytes: side.extra.MSS, SendBufferBytes: side.extra.SendBuffer,
				ReceiveBufferBytes: side.extra.ReceiveBuffer, BuffersFixed: c.Window > 0, Counts: side.counts}
			if side.extra.Sender {
				end.End = measure.Sender
			}
			if side.extra.Discards {
				r.Parameters["payload"] = "discarded by the receiver's kernel"
			}
			if side.settings != nil {
				end.Settings = settingsOf(side.settings)
			}
			r.Samples.Ends = append(r.Samples.Ends, end)
		}
	}
}

// settingsOf are those of a kernel's settings that a Result keeps.
func settingsOf(t *sock.TCPSettings) *measure.TCPSettings {
	return &measure.TCPSettings{RmemBytes: t.RmemBytes, WmemBytes: t.WmemBytes,
		WindowScaling: t.WindowScaling, SACK: t.SACK, Timestamps: t.Timestamps, ECN: t.ECN, CongestionControl: t.CongestionControl}
}

// addKernelMemory records what each kernel knew of the path before the test, and says so where it could not be made
// to forget: then the test did not start like a first connection.
func addKernelMemory(r *measure.Result, report *iperf3.Report) {
	record := map[string]any{}
	for _, end := range []struct {
		name string
		path *iperf3.PathRecord
	}{{"source", report.Path}, {"target", peerPath(report)}} {
		if end.path == nil {
			continue
		}
		record[end.name] = end.path
		if m := end.path.Memory; m != nil && !end.path.Forgotten {
			r.Note(fmt.Sprintf("the %s's kernel remembers earlier connections on this path and could not be made to "+
				"forget (RTT %.1f ms, ssthresh %d packets): the start of the test may show it", end.name,
				m.RTTSeconds*1000, m.SSThreshPackets))
		}
	}
	if len(record) > 0 {
		r.Parameters["kernel_memory"] = record
	}
}

func peerPath(report *iperf3.Report) *iperf3.PathRecord {
	if report.PeerExtra == nil {
		return nil
	}
	return report.PeerExtra.Path
}
