package diagnose

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// view is what the Results say about one direction of a path. Times are in seconds, rates in bit/s, sizes in bytes; a
// zero is not known unless the comment says otherwise.
type view struct {
	direction        string
	sender, receiver string // host names, for advice

	goodput  float64 // at the receiver, over the whole test
	steady   float64 // acknowledged at the sender, over the test's later part
	duration float64

	baseRTT    float64 // of the empty path: the least that ping or TCP saw
	loadedRTT  float64 // median of TCP's smoothed RTT while the test ran
	mss        float64
	capacity   float64 // of IP, at the narrowest link
	carries    float64 // of TCP payload: capacity less headers
	congestion string

	rwndShare, sndbufShare float64 // shares of the test's time; 0 is a value
	appLimitedShare        float64 // share of samples that the kernel marked so; 0 is a value
	roomShare              float64 // share of samples in which the program could have given TCP more; 0 is a value
	windowScaling          *bool   // nil: not known
	window                 float64 // the largest that the receiver offered

	sentSegments, resent float64 // of TCP, over the test; 0 is a value
	paced                *pacedLoss

	from, to *measure.TCPEnd // settings of the sender and the receiver; nil: not known
	sourced  bool            // the data came from a source that the caller chose, or at a rate
}

// pacedLoss is what a probe lost that filled only a small part of the path.
type pacedLoss struct{ sent, lost, rate float64 }

// settled is the part of a test, from its start, that is left out of what is meant to be steady: slow start and the
// first losses take 1 to 2 s of 8 on long paths.
const settled = 0.4

// newView gathers what is known about a direction. It is nil without a TCP throughput that ran.
func newView(results []*measure.Result, direction string) *view {
	v := &view{direction: direction}
	var tcp *measure.Result
	for _, r := range results {
		reverse, _ := r.Parameters["reverse"].(bool)
		ours := reverse == (direction == measure.Reverse)
		switch {
		case r.Kind == "ping":
			v.baseRTT = lesser(v.baseRTT, r.Metrics[measure.RTTMin])
		case r.Kind == "capacity" && ours:
			v.capacity = r.Metrics[measure.Capacity]
		case r.Kind == "throughput" && ours && r.Parameters["proto"] == "udp":
			if sent := r.Metrics[measure.SentPackets]; sent > 0 {
				v.paced = &pacedLoss{sent, r.Metrics[measure.LostPackets], r.Metrics[measure.SentRate]}
			}
		case r.Kind == "throughput" && ours:
			if _, ok := r.Get(measure.Throughput); ok {
				tcp = r
			}
		}
	}
	if tcp == nil {
		return nil
	}
	v.takeTransfer(tcp)
	return v
}

func (v *view) takeTransfer(r *measure.Result) {
	v.goodput = r.Metrics[measure.Throughput]
	v.sender, v.receiver = r.Source.Address, r.Target.Name
	if r.Source.Name != "" {
		v.sender = r.Source.Name
	}
	if v.direction == measure.Reverse {
		v.sender, v.receiver = v.receiver, v.sender
	}
	_, rated := r.Parameters["rate_bits_per_second"]
	_, sourced := r.Parameters["source"]
	v.sourced = rated || sourced
	v.rwndShare, v.sndbufShare = r.Metrics[measure.RwndLimitedRatio], r.Metrics[measure.SndbufLimitedRatio]
	v.from, v.to = r.Samples.Find(v.direction, measure.Sender), r.Samples.Find(v.direction, measure.Receiver)
	v.takeSamples(v.senderSamples(r))
	if v.from != nil {
		v.congestion = v.from.CongestionControl
		if v.mss == 0 {
			v.mss = float64(v.from.MSSBytes)
		}
	}
	if v.capacity > 0 && v.mss > 0 {
		v.carries = v.capacity * payloadShare(v.mss)
	}
	if v.steady == 0 {
		v.steady = v.goodput
	}
}

// payloadShare is what of an IP packet is payload. The MSS that the kernel reports has the TCP timestamps taken off.
func payloadShare(mss float64) float64 {
	o := model.Overhead{MTU: mss + ipv4Header + tcpHeader + tcpTimestamps, Headers: ipv4Header + tcpHeader + tcpTimestamps}
	return o.PayloadShare()
}

// Header sizes in bytes (RFC 791, RFC 9293, RFC 7323).
const (
	ipv4Header    = 20
	tcpHeader     = 20
	tcpTimestamps = 12
)

// senderSamples are those of the first stream's sender.
func (v *view) senderSamples(r *measure.Result) []measure.TCPSample {
	var out []measure.TCPSample
	for _, s := range r.Samples.TCPInfo {
		if s.Direction == v.direction && s.End == measure.Sender && (len(out) == 0 || s.Stream == out[0].Stream) {
			out = append(out, s)
		}
	}
	return out
}

func (v *view) takeSamples(samples []measure.TCPSample) {
	if len(samples) == 0 {
		return
	}
	last := samples[len(samples)-1]
	v.duration = last.ElapsedSeconds
	v.mss = last.Values["snd_mss_bytes"]
	v.baseRTT = lesser(v.baseRTT, last.Values["min_rtt_seconds"])
	v.sentSegments, v.resent = last.Values["data_segs_out"], last.Values["total_retrans_packets"]
	if options, ok := last.Get("options"); ok {
		scaling := int(options)&optionWindowScale != 0
		v.windowScaling = &scaling
	}
	var rtt []float64
	marked, room := 0, 0
	first := measure.TCPSample{}
	for _, s := range samples {
		v.window = max(v.window, s.Values["snd_wnd_bytes"])
		if s.ElapsedSeconds < settled*v.duration {
			continue
		}
		if first.Values == nil {
			first = s
		}
		rtt = append(rtt, s.Values["rtt_seconds"])
		if hasRoom(s) {
			room++
		}
		if s.Values["delivery_rate_app_limited"] != 0 {
			marked++
		}
	}
	if len(rtt) == 0 {
		return
	}
	v.loadedRTT = median(rtt)
	v.appLimitedShare, v.roomShare = float64(marked)/float64(len(rtt)), float64(room)/float64(len(rtt))
	if span := last.ElapsedSeconds - first.ElapsedSeconds; span > 0 {
		v.steady = (last.Values["bytes_acked"] - first.Values["bytes_acked"]) * 8 / span
	}
}

// hasRoom reports whether the socket was writable at a sample, so that the program could have given TCP more. Linux calls
// it writable while less than two thirds of the send buffer are in use (sk_stream_is_writeable). Without that account
// (it is no part of TCP_INFO), nothing must wait to be sent and the kernel must have marked the delivery rate as the
// program's; alone that mark will not do, since Linux 6.18 at times leaves it out for a whole transfer.
func hasRoom(s measure.TCPSample) bool {
	if buffer := s.Values["send_buffer_bytes"]; buffer > 0 {
		return s.Values["send_queued_bytes"] <= buffer*2/3
	}
	return s.Values["delivery_rate_app_limited"] != 0 && s.Values["notsent_bytes"] <= s.Values["snd_mss_bytes"]
}

// optionWindowScale is the bit of TCP_INFO's options that says that both ends scale windows (TCPI_OPT_WSCALE).
const optionWindowScale = 4

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// lesser is the smaller of two values that are known.
func lesser(a, b float64) float64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func seconds(s float64) time.Duration { return model.Seconds(s) }

// full reports whether the path carries what it can: what it delivers is close to what its narrowest link allows, or,
// where that is not known, a queue stands in it because TCP fills it.
func (v *view) full() bool {
	if v.carries > 0 {
		return v.steady >= fullShare*v.carries
	}
	queue := v.loadedRTT - v.baseRTT
	return v.loadedRTT > queueStands*v.baseRTT && queue > leastQueue &&
		v.rwndShare < binding && v.sndbufShare < sendBinding && v.roomShare < mostlyIdle
}

const (
	// fullShare is the share of what a path can carry above which nothing is wrong: cubic and reno on a queue of half
	// a bandwidth-delay product keep 90 % and more.
	fullShare = 0.8
	// queueStands is the ratio of loaded to empty RTT above which a queue stands in the path, and leastQueue, in seconds,
	// what it must hold: within a room the hosts' own delays vary by more than a fifth.
	queueStands = 1.2
	leastQueue  = 0.001
)
