package twin

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// transferView is what a TCP transfer shows of the path.
type transferView struct {
	goodput        float64 // median of its intervals, slow start aside
	mss, mtu       float64
	least, most    float64 // round trip, as TCP sees it; 0: not known
	streams        float64
	sent, repeated float64 // segments; the repeated ones are among those sent
	held           float64 // share of time that buffers or windows held it
	congestion     string  // the sender's congestion control; "": not known
	moments        []moment
}

// moment is one reading of the sender's kernel, all streams together.
type moment struct {
	at        float64 // s
	rtt       float64 // s, smoothed; of several streams the mean; 0: not known
	rate      float64 // bit/s, the kernel's own sample of what was delivered
	delivered float64 // segments so far
	repeated  float64 // segments so far
}

func view(r *measure.Result) transferView {
	way := measure.Forward
	if reversed(r) {
		way = measure.Reverse
	}
	streams, _ := r.Number("parallel")
	v := transferView{mss: ordinaryMTU - tcpHeaders, mtu: ordinaryMTU, streams: max(1, streams),
		held: r.Metrics[measure.RwndLimitedRatio] + r.Metrics[measure.SndbufLimitedRatio], goodput: steady(r, way)}
	if end := r.Samples.Find(way, measure.Sender); end != nil {
		v.congestion = end.CongestionControl
	}
	var now []measure.TCPSample // those of one moment
	for _, s := range r.Samples.Readings(way, measure.Sender) {
		if least := s.Values["min_rtt_seconds"]; least > 0 && (v.least == 0 || least < v.least) {
			v.least = least
		}
		if mss := s.Values["snd_mss_bytes"]; mss >= 1 {
			v.mss = mss
		}
		if mtu := s.Values["pmtu_bytes"]; mtu > 0 {
			v.mtu = mtu
		}
		if len(now) > 0 && s.ElapsedSeconds != now[0].ElapsedSeconds {
			now = now[:0]
		}
		if now = append(now, s); len(now) == int(v.streams) {
			v.add(now)
			now = now[:0]
		}
	}
	v.repeated = r.Metrics[measure.RetransmittedBytes] / v.mss
	v.sent = r.Metrics[measure.SentBytes]/v.mss + v.repeated
	return v
}

// add takes the readings of all streams at one moment.
func (v *transferView) add(samples []measure.TCPSample) {
	m := moment{at: samples[0].ElapsedSeconds}
	for _, s := range samples {
		m.rtt += s.Values["rtt_seconds"] / float64(len(samples))
		m.rate += s.Values["delivery_rate_bits_per_second"]
		m.delivered += s.Values["delivered"]
		m.repeated += s.Values["total_retrans_packets"]
	}
	v.most = max(v.most, m.rtt)
	v.moments = append(v.moments, m)
}

// steady is the median rate of the whole intervals but the first, which has slow start in it; of all if there are few.
func steady(r *measure.Result, way string) float64 {
	var rates []float64
	for _, i := range r.Samples.Intervals {
		if i.Stream == 0 && i.Direction == way && i.EndSeconds-i.StartSeconds >= 0.5 {
			rates = append(rates, i.BitsPerSecond)
		}
	}
	if len(rates) < 3 {
		return r.Metrics[measure.Throughput]
	}
	return stat.Summarize(rates[1:]).Median
}

// lossRatio is the share of segments that were sent again.
func (v transferView) lossRatio() float64 {
	if v.sent == 0 {
		return 0
	}
	return v.repeated / v.sent
}

// window is how many segments each stream had under way, by Little's law: rate times round trip.
func (v transferView) window() float64 {
	var rtts []float64
	for _, m := range v.moments {
		if m.rtt > 0 {
			rtts = append(rtts, m.rtt)
		}
	}
	if len(rtts) == 0 {
		return 0
	}
	return v.goodput * stat.Summarize(rtts).Median / (8 * v.mss * v.streams)
}

// fastest is what the flow delivered at its best (bit/s), one moment in twenty aside.
func (v transferView) fastest() float64 {
	rates := make([]float64, len(v.moments))
	for i, m := range v.moments {
		rates[i] = m.rate
	}
	return stat.Summarize(rates).P95
}
