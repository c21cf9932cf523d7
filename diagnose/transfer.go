package diagnose

import (
	"fmt"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// settled is the part of a test, from its start, that is left out of what is meant to be steady: slow start and the
// first losses take 1 to 2 s of 8 on long paths.
const settled = 0.4

// takeTransfer reports whether the transfer says something: that data arrived, or that for long enough none did.
func (v *view) takeTransfer(r *measure.Result) bool {
	v.sender, v.receiver = r.Source.Address, r.Target.Name
	if r.Source.Name != "" {
		v.sender = r.Source.Name
	}
	v.address = r.Target.Address
	if v.direction == measure.Reverse {
		v.sender, v.receiver, v.address = v.receiver, v.sender, r.Source.Address
	}
	v.ipHeader = ipHeader(r.Target.Address)
	v.target, v.respond = r.Target.Name, r.Parameters["peer"] == "pathwise"
	rated := false
	v.rate, rated = r.Parameters["rate"].(float64)
	_, sourced := r.Parameters["source"]
	v.sourced = rated || sourced
	v.rwndShare, v.sndbufShare = r.Metrics[measure.RwndLimitedRatio], r.Metrics[measure.SndbufLimitedRatio]
	v.from, v.to = r.Samples.Find(v.direction, measure.Sender), r.Samples.Find(v.direction, measure.Receiver)
	sender := v.samples(r, measure.Sender)
	v.takeSamples(sender)
	if v.from != nil {
		v.congestion = v.from.CongestionControl
	}
	for _, e := range []*measure.TCPEnd{v.from, v.to} {
		if e != nil && v.mss == 0 {
			v.mss = float64(e.MSSBytes)
		}
	}
	if !v.takeGoodput(r, sender) {
		return false
	}
	if v.capacity > 0 && v.mss > 0 {
		v.carries = v.capacity * v.payloadShare(v.mss)
	}
	v.doubtCapacity()
	return true
}

// takeGoodput reports whether it is known how much arrived, or that nothing did.
func (v *view) takeGoodput(r *measure.Result, sender []measure.TCPSample) bool {
	counted := false
	v.goodput, counted = r.Get(measure.Throughput)
	if receiver := v.samples(r, measure.Receiver); v.duration == 0 && len(receiver) > 0 {
		v.duration = receiver[len(receiver)-1].ElapsedSeconds
	}
	arrived := v.goodput > 0
	if len(sender) > 0 && !counted {
		acked := sender[len(sender)-1].Values["bytes_acked"]
		if arrived = acked >= v.mss; arrived && v.duration > 0 { // less is the word that opened the stream
			v.goodput = acked * 8 / v.duration
		}
	}
	if v.steady == 0 {
		v.steady = v.goodput
	}
	v.stuck = !arrived && v.duration >= max(leastSilence, silentTrips*v.baseRTT)
	return arrived || v.stuck
}

const (
	// leastSilence is how long nothing must arrive until that means something, in seconds: the first time-out of a sender that
	// knows no round trip yet (RFC 6298 section 2.1). silentTrips is the same for paths of whole seconds.
	leastSilence = 1.0
	silentTrips  = 4
)

// doubtCapacity leaves a capacity out that was exceeded: trains of packets came slower than the transfer, as where a host
// cannot send or stamp single packets as fast as it moves bytes.
func (v *view) doubtCapacity() {
	achieved := max(v.goodput, v.steady)
	if v.carries == 0 || achieved <= v.carries*(1+capacityError) {
		return
	}
	v.doubt = fmt.Sprintf("%s were measured, of which TCP payload can have %s, and the transfer reached %s", quantity.FormatRate(v.capacity),
		quantity.FormatRate(v.carries), quantity.FormatRate(achieved))
	v.capacity, v.carries, v.exceeded = 0, 0, true
}

// capacityError is how far below the true one a measured capacity may be.
const capacityError = 0.1

// payloadShare is what of an IP packet is payload. The MSS that the kernel reports has the TCP timestamps taken off.
func (v *view) payloadShare(mss float64) float64 {
	headers := v.ipHeader + model.TCPHeader + model.TCPTimestamps
	return model.Overhead{MTU: mss + headers, Headers: headers}.PayloadShare()
}

// ipHeader is the size of an IP header towards an address.
func ipHeader(address string) float64 {
	if strings.Contains(address, ":") {
		return model.IPv6Header
	}
	return model.IPv4Header
}

// samples are those of the first stream at an end.
func (v *view) samples(r *measure.Result, end string) []measure.TCPSample {
	var out []measure.TCPSample
	for _, s := range r.Samples.TCPInfo {
		if s.Direction == v.direction && s.End == end && (len(out) == 0 || s.Stream == out[0].Stream) {
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
