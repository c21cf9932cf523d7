package twin

import (
	"math"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// course makes a transfer of 100 moments, 50 ms apart: at tells the round trip (s), the rate of delivery (bit/s of payload)
// and the segments repeated so far. Each stream has the same share. The least round trip is 34 ms.
func course(streams int, at func(i int) (rtt, rate float64, repeated int)) *measure.Result {
	const segment = 1448
	r := transfer(false, 0)
	r.Parameters["parallel"] = streams
	bytes, again := 0.0, 0
	for i := range 100 {
		rtt, rate, repeated := at(i)
		bytes, again = bytes+rate*0.05/8, repeated
		for k := range streams {
			share := 1 / float64(streams)
			r.Samples.TCPInfo = append(r.Samples.TCPInfo, measure.TCPSample{End: measure.Sender, Direction: measure.Forward,
				Stream: k + 1, ElapsedSeconds: 0.05 * float64(i), Values: map[string]float64{"min_rtt_seconds": 0.034, "rtt_seconds": rtt,
					"snd_mss_bytes": segment, "pmtu_bytes": 1500, "delivery_rate_bits_per_second": rate * share,
					"delivered": bytes / segment * share, "total_retrans_packets": float64(repeated) * share}})
		}
	}
	r.Metrics[measure.Throughput] = bytes * 8 / 5
	r.Metrics[measure.SentBytes] = bytes
	r.Metrics[measure.RetransmittedBytes] = float64(again * segment)
	return r
}

// Transfers as the lab has them; the rates of a link are those of 20 Mbit/s.
const linkPayload = 18.83e6

// alone fills the link all the time; its queue overflows twice, five drops each time.
func alone(i int) (rtt, rate float64, repeated int) {
	return 0.134 - 0.001*float64((50-i%50)/2), linkPayload, i / 50 * 5
}

// everyTwentieth is held by a loss of each 20th packet: the receiver's held back acknowledgements make the few round
// trips long.
func everyTwentieth(i int) (rtt, rate float64, repeated int) {
	rates := [...]float64{0.66e6, 0.98e6, 0.65e6, 0.96e6, 0.45e6}
	if i < 4 {
		return 0.036, 4e6, 0
	}
	return 0.045 + 0.002*float64(i%6), rates[i%5], i / 5
}

// atTimes fills the link until losses, one by one, make it slow: 2 while the queue is long, 3 afterwards.
func atTimes(i int) (rtt, rate float64, repeated int) {
	if i < 20 {
		return 0.100 + 0.001*float64(i), linkPayload, i / 10
	}
	return 0.036, 10e6, 2 + (i-20)/20
}

// shared is one of several in the link: its rate varies, and the queue overflows without end.
func shared(i int) (rtt, rate float64, repeated int) {
	return 0.110 + 0.001*float64(i%10), 4e6 + 2e6*float64(i%5), i / 2
}

// steadyButShort never shows much of a queue, but loses eight packets at a time.
func steadyButShort(i int) (rtt, rate float64, repeated int) {
	return 0.036 + 0.001*float64(i%5), 4e6 + 0.5e6*float64(i%10), i / 10 * 8
}

func TestFilled(t *testing.T) {
	held := course(1, alone)
	held.Metrics[measure.RwndLimitedRatio] = 0.9
	stalled := course(1, func(i int) (float64, float64, int) {
		if i/3 == 10 {
			return 0.080, 10e6, 0
		}
		return 0.035, 10e6, 0
	})
	unsampled := transfer(false, linkPayload)
	for _, c := range []struct {
		name string
		r    *measure.Result
		want float64 // 0: it filled none
	}{
		{"alone", course(1, alone), linkPayload},
		{"four streams", course(4, alone), linkPayload},
		{"losses made it slow later", course(1, atTimes), linkPayload},
		{"one of several", course(1, shared), 8e6},
		{"held by losses", course(1, everyTwentieth), 0},
		{"four streams held by losses", course(4, everyTwentieth), 0},
		{"held by the window", held, 0},
		{"a stall of a host", stalled, 0},
		{"a queue too short to be seen", course(1, steadyButShort), 0},
		{"no samples", unsampled, 0},
	} {
		got, ok := view(c.r).filled(0.001)
		if ok != (c.want > 0) || math.Abs(got-c.want) > 0.02*c.want {
			t.Errorf("%s: filled a link of %v bit/s: %v; want %v", c.name, got, ok, c.want)
		}
	}
}
