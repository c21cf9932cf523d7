package main

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// setting is a path and what is wrong with it.
type setting struct {
	rate   string
	rtt    time.Duration
	seed   int
	fault  func(*lab.Spec) // nil: none in the path or the hosts
	args   []string        // of diagnose, such as a rate for the program
	source float64         // bit/s: feed diagnose's standard input at this rate

	// YAML: what more the host's own cable and the narrow link have, and the routers in place of plain ones.
	cable, narrow, routers string
}

func (s setting) String() string { return fmt.Sprintf("%s %v seed %d", s.rate, s.rtt, s.seed) }

// spec is a path of three links with the setting's rate in the middle.
func (s setting) spec(t *testing.T) *lab.Spec {
	spec, err := lab.ParseSpec("calibration", fmt.Appendf(nil, `
seed: %d
hosts: {bob: {}, carol: {}}
routers: %s
links:
  - {between: [bob, denver], %s, delay: 1ms}
  - {between: [denver, chicago], rate: %s, delay: %v%s}
  - {between: [chicago, carol], rate: 1gbit, delay: 1ms}
`, s.seed, cmp.Or(s.routers, "[denver, chicago]"), cmp.Or(s.cable, "rate: 1gbit"), s.rate, s.rtt/2-2*time.Millisecond, s.narrow))
	if err != nil {
		t.Fatal(err)
	}
	if s.fault != nil {
		s.fault(spec)
	}
	return spec
}

func withSysctl(host, key, value string) func(*lab.Spec) {
	return func(s *lab.Spec) { s.Hosts[host] = lab.Host{Sysctl: map[string]string{key: value}} }
}

func withLoss(ratio float64) func(*lab.Spec) {
	return func(s *lab.Spec) { s.Links[1].Forward = &lab.Shape{Loss: chance.Independent(ratio)} }
}

func rmemMax(bytes int) func(*lab.Spec) {
	return withSysctl("carol", "net.ipv4.tcp_rmem", fmt.Sprintf("4096 %d %d", min(131072, bytes), bytes))
}

func wmemMax(bytes int) func(*lab.Spec) {
	return withSysctl("bob", "net.ipv4.tcp_wmem", fmt.Sprintf("4096 16384 %d", bytes))
}

func noScaling(host string) func(*lab.Spec) {
	return withSysctl(host, "net.ipv4.tcp_window_scaling", "0")
}

// withHole lets packets above a size vanish on the way there.
func withHole(bytes int) func(*lab.Spec) {
	return func(s *lab.Spec) {
		s.Links[1].Forward = &lab.Shape{MTU: &link.MTU{Size: notation.Size(bytes), Excess: link.Discard}}
	}
}

const ms = time.Millisecond

// oneWay has diagnose measure the way there only: what it reads here cannot be sent from there.
var oneWay = []string{"--input", "/dev/zero"}

// causes are settings in which each cause is the one that binds. The first of each is the one that every run of the
// tests goes through.
var calibrationCauses = map[string][]setting{
	"receive-window-limited": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: rmemMax(65536)}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: rmemMax(87380)},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, fault: rmemMax(262144)}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: rmemMax(131072)},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, fault: rmemMax(131072)}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: rmemMax(131072)},
	},
	"send-buffer-limited": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: wmemMax(65536)}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: wmemMax(131072)},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, fault: wmemMax(262144)}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: wmemMax(131072)},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, fault: wmemMax(131072)}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: wmemMax(131072)},
	},
	"no-window-scaling": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: noScaling("bob")}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: noScaling("carol")},
		{rate: "100mbit", rtt: 80 * ms, seed: 3, fault: noScaling("bob")}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: noScaling("carol")},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, fault: noScaling("bob")}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: noScaling("carol")},
	},
	"random-loss": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: withLoss(0.01)}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: withLoss(0.01)},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, fault: withLoss(0.003)}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: withLoss(0.005)},
		{rate: "20mbit", rtt: 100 * ms, seed: 5, fault: withLoss(0.005)}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: withLoss(0.01)},
	},
	"pmtu-blackhole": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, fault: withHole(1300), args: oneWay}, {rate: "100mbit", rtt: 50 * ms, seed: 2, fault: withHole(1400), args: oneWay},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, fault: withHole(1476), args: oneWay}, {rate: "50mbit", rtt: 100 * ms, seed: 4, fault: withHole(1280), args: oneWay},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, fault: withHole(1492), args: oneWay}, {rate: "200mbit", rtt: 20 * ms, seed: 6, fault: withHole(1100), args: oneWay},
	},
	"application-limited": {
		{rate: "50mbit", rtt: 40 * ms, seed: 1, source: 8e6}, {rate: "100mbit", rtt: 50 * ms, seed: 2, args: []string{"--rate", "10mbit"}},
		{rate: "100mbit", rtt: 50 * ms, seed: 3, args: []string{"--rate", "40mbit"}}, {rate: "50mbit", rtt: 100 * ms, seed: 4, args: []string{"--rate", "5mbit"}},
		{rate: "20mbit", rtt: 200 * ms, seed: 5, source: 4e6}, {rate: "200mbit", rtt: 20 * ms, seed: 6, args: []string{"--rate", "50mbit"}},
	},
}

// calibrationClean are the rates and round trips of the clean runs; each takes five seeds.
var calibrationClean = []setting{
	{rate: "50mbit", rtt: 40 * ms}, {rate: "100mbit", rtt: 50 * ms}, {rate: "10mbit", rtt: 20 * ms},
	{rate: "20mbit", rtt: 200 * ms}, {rate: "200mbit", rtt: 20 * ms},
}
