package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// calibrationNamed are settings in which a cause binds, or is there, and in which its name alone is expected: nothing predicts what its cure
// gains, or no setting of a lab that runs takes it away.
var calibrationNamed = map[string][]setting{
	"burst-loss": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, narrow: bursts("0.3%")},
		{rate: "100mbit", rtt: 50 * ms, seed: 12, narrow: bursts("0.2%")},
		{rate: "20mbit", rtt: 100 * ms, seed: 13, narrow: bursts("0.4%")},
	},
	"random-loss": { // so rare that a short probe does not meet it
		{rate: "50mbit", rtt: 40 * ms, seed: 11, narrow: ", forward: {loss: 0.033%}"},
		{rate: "100mbit", rtt: 50 * ms, seed: 12, narrow: ", forward: {loss: 0.02%}"},
		{rate: "20mbit", rtt: 100 * ms, seed: 13, narrow: ", forward: {loss: 0.05%}"},
	},
	"shallow-buffer": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, narrow: ", queue: 15kB"},
		{rate: "100mbit", rtt: 30 * ms, seed: 12, narrow: ", queue: 9kB"},
		{rate: "100mbit", rtt: 50 * ms, seed: 13, narrow: ", queue: 15kB"},
	},
	"policer": { // the second below what a paced probe sends, the third with a bucket that lasts for a while
		{rate: "50mbit", rtt: 40 * ms, seed: 11, narrow: policed("10mbit", "50kB")},
		{rate: "50mbit", rtt: 40 * ms, seed: 12, narrow: policed("1500kbit", "15kB")},
		{rate: "50mbit", rtt: 40 * ms, seed: 13, narrow: policed("10mbit", "2MB")},
		{rate: "20mbit", rtt: 100 * ms, seed: 14, narrow: policed("5mbit", "30kB")},
	},
	"duplex-mismatch": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, cable: "rate: 100mbit, duplex: mismatch"},
		{rate: "30mbit", rtt: 20 * ms, seed: 12, cable: "rate: 100mbit, duplex: mismatch"},
		{rate: "5mbit", rtt: 60 * ms, seed: 13, cable: "rate: 10mbit, duplex: mismatch"},
	},
	"reordering-harmful": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, narrow: late("2%", "60ms")},
		{rate: "100mbit", rtt: 30 * ms, seed: 12, narrow: late("2%", "50ms")},
		{rate: "20mbit", rtt: 80 * ms, seed: 13, narrow: late("2%", "120ms")},
	},
	"reordering-benign": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, narrow: late("2%", "3ms")},
		{rate: "100mbit", rtt: 50 * ms, seed: 12, narrow: late("2%", "3ms")},
		{rate: "20mbit", rtt: 100 * ms, seed: 13, narrow: late("2%", "5ms")},
	},
	"flow-slow-path": {
		{rate: "50mbit", rtt: 20 * ms, seed: 11, narrow: slowPath("2mbit", "10ms")},
		{rate: "100mbit", rtt: 40 * ms, seed: 12, narrow: slowPath("4mbit", "20ms")},
		{rate: "20mbit", rtt: 60 * ms, seed: 13, narrow: slowPath("1mbit", "30ms")},
	},
	"dscp-remarked": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, routers: "{denver: {dscp: 0}, chicago: {}}", args: marked},
		{rate: "20mbit", rtt: 100 * ms, seed: 12, routers: "{denver: {}, chicago: {dscp: 0}}", args: marked},
	},
	"nagle-delayed-ack": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, args: []string{"--request", "202", "--writes", "2"}},
		{rate: "100mbit", rtt: 10 * ms, seed: 12, args: []string{"--request", "900", "--writes", "2"}},
		{rate: "10mbit", rtt: 100 * ms, seed: 13, args: []string{"--request", "120", "--writes", "2"}},
	},
	"small-writes": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, args: []string{"--request", "5000", "--writes", "50", "--nodelay"}},
		{rate: "100mbit", rtt: 10 * ms, seed: 12, args: []string{"--request", "3000", "--writes", "30", "--nodelay"}},
		{rate: "10mbit", rtt: 100 * ms, seed: 13, args: []string{"--request", "7000", "--writes", "70", "--nodelay"}},
	},
	"chatty-application": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, args: []string{"--request", "60", "--nodelay", "--turns", "5"}},
		{rate: "100mbit", rtt: 20 * ms, seed: 12, args: []string{"--request", "60", "--nodelay", "--turns", "12"}},
		{rate: "10mbit", rtt: 100 * ms, seed: 13, args: []string{"--request", "60", "--nodelay", "--turns", "4"}},
	},
	"transaction-loss": {
		{rate: "50mbit", rtt: 40 * ms, seed: 11, narrow: ", loss: 5%", args: asks},
		{rate: "100mbit", rtt: 10 * ms, seed: 12, narrow: ", loss: 6%", args: asks},
		{rate: "10mbit", rtt: 60 * ms, seed: 13, narrow: ", loss: 7%", args: asks},
	},
}

var (
	marked = []string{"--dscp", "46"}
	asks   = []string{"--request", "100", "--response", "100", "--nodelay"}
)

// bursts has a share of the packets begin a burst of about seven losses.
func bursts(enter string) string {
	return fmt.Sprintf(", forward: {loss: {gilbert: {enter: %s, leave: 12%%, bad: 80%%}}}", enter)
}

func policed(rate, burst string) string {
	return fmt.Sprintf(", forward: {police: {rate: %s, burst: %s}}", rate, burst)
}

// late has a share of the packets come late.
func late(ratio, by string) string {
	return fmt.Sprintf(", forward: {reorder: {ratio: %s, by: %s}}", ratio, by)
}

// slowPath holds the flow of the diagnosis's transfers to a rate, and no other. Its delay is that of the path each way: a flow that is there
// sooner than pings looks as if others had filled a queue before.
func slowPath(rate, delay string) string {
	return fmt.Sprintf(", rules: [{match: {protocol: tcp, port: 5201}, rate: %s, delay: %s}]", rate, delay)
}

// TestCalibrationNames expects the name of each cause. In every run of the tests the recordings of the library's faults do that.
func TestCalibrationNames(t *testing.T) {
	if !calibrating() {
		t.Skip("make calibrate runs it")
	}
	t.Parallel()
	for cause, settings := range calibrationNamed {
		for _, s := range settings {
			t.Run(fmt.Sprintf("%s/%v", cause, s), func(t *testing.T) {
				t.Parallel()
				carrying(t)
				carried(t, s, func(l *lab.Lab) error { return checkName(t, l, cause, s) })
			})
		}
	}
}

// checkName expects a cause to be the verdict, or what makes nothing slow to be found on a healthy path.
func checkName(t *testing.T, l *lab.Lab, cause string, s setting) error {
	d := diagnoseIn(t, l, s, append([]string{"carol"}, s.args...)...)
	healthy := d.Verdict == diagnose.Healthy && slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == cause })
	if d.Verdict != cause && !healthy {
		return fmt.Errorf("verdict %s: %s", d.Verdict, inShort(d))
	}
	t.Logf("CALIBRATION %s | %v | verdict %s | achieved %s", cause, s, d.Verdict, quantity.FormatRate(d.AchievedBitsPerSecond))
	return nil
}

// Every setting is a lab, whether it is played or not.
func TestCalibrationSettings(t *testing.T) {
	for _, all := range []map[string][]setting{calibrationCauses, calibrationNamed} {
		for cause, settings := range all {
			for _, s := range settings {
				if spec := s.spec(t); len(spec.Links) != 3 {
					t.Errorf("%s: %v: %d links", cause, s, len(spec.Links))
				}
			}
		}
	}
}
