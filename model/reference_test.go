package model

import (
	"fmt"
	"math"
	"testing"
	"time"
)

const ms = time.Millisecond

// near fails the test unless got is within the relative tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, tolerance)
	}
}

// Table 2 of GridNM (2002): rate in Mbit/s (10^6) by socket buffer in KiB and round-trip time in ms, rounded to whole Mbit/s. Its
// row labels are cut to three digits; the one that reads 304 was computed with 3048 KiB.
func TestWindowLimitGivesGridNMTable2(t *testing.T) {
	rtts := []time.Duration{5 * ms, 10 * ms, 25 * ms, 50 * ms, 100 * ms, 200 * ms}
	table := []struct {
		kib  float64
		mbit [6]float64
	}{
		{64, [6]float64{105, 52, 21, 10, 5, 3}},
		{128, [6]float64{210, 105, 42, 21, 10, 5}},
		{256, [6]float64{419, 210, 84, 42, 21, 10}},
		{512, [6]float64{839, 419, 168, 84, 42, 21}},
		{1024, [6]float64{1678, 839, 336, 168, 84, 42}},
		{2048, [6]float64{3355, 1678, 671, 336, 168, 84}},
		{3048, [6]float64{4994, 2497, 999, 499, 250, 125}},
		{4096, [6]float64{6711, 3355, 1342, 671, 336, 168}},
		{5120, [6]float64{8389, 4194, 1678, 839, 419, 210}},
		{6144, [6]float64{10066, 5033, 2013, 1007, 503, 252}},
		{7168, [6]float64{11744, 5872, 2349, 1174, 587, 294}},
		{8192, [6]float64{13422, 6711, 2684, 1342, 671, 336}},
	}
	for _, row := range table {
		for i, rtt := range rtts {
			if got := math.Round(WindowLimit(row.kib*1024, rtt) / 1e6); got != row.mbit[i] {
				t.Errorf("%v KiB over %v: %v Mbit/s, want %v", row.kib, rtt, got, row.mbit[i])
			}
		}
	}
}

// "Minimum TCP Window Sizes" of High Performance Data Transfer (2006): decimal kB and MB at 85 and 155 ms. Two figures are
// printed, one of them (6.0 for 6.056) cut, not rounded: hence 1.5 %.
func TestWindowNeededGivesMinimumWindows(t *testing.T) {
	table := []struct{ mbit, at85, at155 float64 }{
		{40, 425e3, 775e3},
		{140, 1.5e6, 2.7e6},
		{570, 6.0e6, 11e6},
		{2280, 24e6, 44e6},
		{9100, 97e6, 176e6},
	}
	for _, row := range table {
		near(t, "at 85 ms", WindowNeeded(row.mbit*1e6, 85*ms), row.at85, 0.015)
		near(t, "at 155 ms", WindowNeeded(row.mbit*1e6, 155*ms), row.at155, 0.015)
	}
	// Where the table prints every digit there is nothing to round.
	near(t, "40 Mbit/s over 85 ms", WindowNeeded(40e6, 85*ms), 425e3, 1e-12)
}

// "TCP Acceleration" of High Performance Data Transfer (2006): Mbit/s per s, and seconds from 0 to 100 Mbit/s, MSS 1448.
func TestAccelerationTable(t *testing.T) {
	table := []struct {
		rtt           time.Duration
		mbit, seconds float64
	}{
		{5 * ms, 463, 0.216}, {10 * ms, 116, 0.864}, {20 * ms, 29, 3.45}, {50 * ms, 4.6, 21.6}, {100 * ms, 1.16, 86.4}, {200 * ms, 0.29, 345},
	}
	for _, row := range table {
		got := Acceleration(1448, row.rtt) / 1e6
		near(t, row.rtt.String(), got, row.mbit, 0.01) // printed with two or three figures
		near(t, row.rtt.String()+" to 100 Mbit/s", 100/got, row.seconds, 0.002)
	}
}

// "Throughput Testing Notes" of High Performance Data Transfer (2006) for IP; 1448 of 1538 B for TCP with timestamps.
func TestOverheadOfEthernet(t *testing.T) {
	tcp := Overhead{MTU: 1500, Framing: EthernetFraming, Headers: IPv4Header + TCPHeader + TCPTimestamps}
	if tcp.Payload() != 1448 {
		t.Errorf("payload %v, want 1448", tcp.Payload())
	}
	near(t, "IP of 100 Mbit/s", 100*tcp.IPShare(), 97.5293, 1e-6)
	near(t, "TCP payload of 100 Mbit/s", 100*tcp.PayloadShare(), 94.1482, 1e-6)

	v6 := Overhead{MTU: 9000, Framing: EthernetFraming + VLANTag, Headers: IPv6Header + TCPHeader + TCPTimestamps}
	if v6.Payload() != 8928 || v6.Wire() != 9042 {
		t.Errorf("IPv6 in a tagged jumbo frame: payload %v of %v, want 8928 of 9042", v6.Payload(), v6.Wire())
	}
}

// "TCP Congestion Avoidance" of Measurement and Monitoring (2009): 1000 Mbit/s, packets of 1500 B. For 70 ms it prints 2917
// packets after the loss, where RFC 5681's rounding down gives 2916: one round trip of 2917.
func TestRecoveryTime(t *testing.T) {
	cases := map[time.Duration]Recovery{
		1 * ms:  {FullPackets: 83, HalvedPackets: 41, Rounds: 42, Time: 42 * ms},
		70 * ms: {FullPackets: 5833, HalvedPackets: 2916, Rounds: 2917, Time: 204190 * ms}, // 3.4 minutes
	}
	for rtt, want := range cases {
		if got := RecoveryTime(1e9, rtt, 1500); got != want {
			t.Errorf("%v: got %+v, want %+v", rtt, got, want)
		}
	}
}

// "NPAD Client test" and its report in Measurement and Monitoring (2009): 500 Mbit/s, 76 ms, MSS 8948.
func TestLossBudgetGivesNPADsFigures(t *testing.T) {
	b := LossBudget(500e6, 76*ms, 8948, CConservative)
	if got := math.Floor(b.RunLengthPackets); got != 575094 {
		t.Errorf("run length %v packets, want 575094", got)
	}
	if got := fmt.Sprintf("%.8f", 100*b.LossRatio); got != "0.00017388" {
		t.Errorf("loss budget %s %%, want 0.00017388", got)
	}
	near(t, "window in packets", b.WindowPackets, 500e6*0.076/8/8948, 1e-12)
	near(t, "Mathis at the budget", Mathis(8948, 76*ms, b.LossRatio, CConservative), 500e6, 1e-12)

	if tiny := LossBudget(1e3, ms, 1448, CConservative); tiny.LossRatio != 1 {
		t.Errorf("a rate below one packet a round trip: loss budget %v, want 1", tiny.LossRatio)
	}

	// The same report: 190639 packets between losses; "this path may pass with rate=500 Mb/s, rtt=43 ms".
	if got := LongestRTT(500e6, 190639, 8948, CConservative).Truncate(ms); got != 43*ms {
		t.Errorf("longest round trip %v, want 43 ms and a fraction", got)
	}
	near(t, "longest round trip at the budget", LongestRTT(500e6, b.RunLengthPackets, 8948, CConservative).Seconds(), 0.076, 1e-8)
}

// "Is Loss the Limiter?" of High Performance Data Transfer (2006): 5 of 78110 lost at 72 ms, MSS 8948: 87 Mbit/s.
func TestMathisGivesTheReferencesFigure(t *testing.T) {
	got := Mathis(8948, 72*ms, 5.0/78110, CConservative)
	if mbit := math.Round(got/1e4) / 100; mbit != 86.99 {
		t.Errorf("%v Mbit/s, want 86.99", mbit)
	}
	near(t, "sqrt(3/2)", CPeriodic, math.Sqrt(1.5), 1e-15)
	near(t, "evenly spaced losses", Mathis(8948, 72*ms, 5.0/78110, CPeriodic)/got, CPeriodic/CConservative, 1e-12)
	if none := Mathis(1448, 50*ms, 0, 1); !math.IsInf(none, 1) {
		t.Errorf("without loss: %v, want +Inf", none)
	}
}

// "Packet Durations and Lengths" and "SNMP Counter Wrap" of High Performance Data Transfer (2006), with two figures or three; its 15 km of OC3 are
// 15.5 cut off.
func TestPacketsOnLinks(t *testing.T) {
	for rate, want := range map[float64]struct{ seconds, metres float64 }{
		56e3: {0.214, 42857e3}, 1.544e6: {7.8e-3, 1554e3}, 10e6: {1.2e-3, 240e3}, 45e6: {267e-6, 53e3}, 100e6: {120e-6, 24e3},
		155e6: {77e-6, 15.5e3}, 622e6: {19.3e-6, 3859}, 1e9: {12e-6, 2400}, 2488e6: {4.8e-6, 965}, 10e9: {1.2e-6, 240},
	} {
		delay := SerializationDelay(1500, rate)
		near(t, "time", delay.Seconds(), want.seconds, 0.01)
		near(t, "length", 2*Reach(delay, FibreVelocity), want.metres, 0.01)
	}
	for _, c := range []struct{ bits, rate, seconds float64 }{
		{32, 10e6, 57 * 60}, {32, 100e6, 5.7 * 60}, {32, 1e9, 34}, {32, 10e9, 3.4}, {64, 10e9, 468 * 365.2425 * 86400}, {31, 1e9, 17},
	} {
		near(t, "wrap", WrapTime(c.bits, c.rate), c.seconds, 0.015)
	}
	near(t, "100 km there and back", 2*PropagationDelay(100e3, FibreVelocity).Seconds(), 1e-3, 0.001)
}

// "Concerns About Bit Errors" of the same: 1e-12 gives 1e-8 of packets, ten links 1e-7, both of one figure.
func TestPacketLoss(t *testing.T) {
	near(t, "one link", PacketLoss(1e-12, 1500, 1), 1.2e-8, 1e-6)
	near(t, "ten links", PacketLoss(1e-12, 1500, 10), 1.2e-7, 1e-6)
	near(t, "every bit", PacketLoss(1, 1500, 1), 1, 0)
	near(t, "half of the bits of one byte", PacketLoss(0.5, 1, 1), 1-1.0/256, 1e-12)
}

// "Application Turns" of Network Application Performance (2012): 400 K in pieces of 4 K over 75 ms.
func TestTurnsTime(t *testing.T) {
	if got := TurnsTime(100, 75*ms, 0, 0); got != 7500*ms {
		t.Errorf("100 turns of 75 ms: %v, want 7.5 s", got)
	}
	if got := TurnsTime(2, 75*ms, 1e6, 8e6); got != 1150*ms {
		t.Errorf("2 turns and a second of bytes: %v, want 1.15 s", got)
	}
}

// Table 5 of RFC 3649 (windows at loss ratios, with its rounded exponent), and a(w) and b(w) of its appendix B.
func TestHighSpeedTCP(t *testing.T) {
	for loss, window := range map[float64]float64{1e-2: 12, 1e-3: 38, 1e-4: 263, 1e-5: 1795, 1e-6: 12279, 1e-7: 83981} {
		near(t, fmt.Sprint("window at ", loss), HighSpeedWindow(loss), window, 0.015)
	}
	for loss, window := range map[float64]float64{1e-2: 12, 1e-4: 120, 1e-6: 1200, 1e-7: 3795} {
		near(t, fmt.Sprint("Reno's window at ", loss), RenoWindow(loss), window, 0.001)
	}
	for window, want := range map[float64][2]float64{38: {1, 0.5}, 118: {2, 0.44}, 221: {3, 0.41}, 347: {4, 0.38}, 495: {5, 0.37}} {
		increase, decrease := HighSpeedSteps(window)
		if got := [2]float64{increase, decrease}; math.Abs(got[0]-want[0]) > 0.1 || math.Abs(got[1]-want[1]) > 0.01 {
			t.Errorf("a window of %v: %v, want %v", window, got, want)
		}
	}
}
