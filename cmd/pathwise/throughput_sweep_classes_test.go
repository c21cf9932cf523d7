package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// Over a link of 10 Mbit/s on which other packets without a mark take 6, what is marked EF passes all of them, and what is not marked, or as less, has what they leave:
// each round of a sweep has all three, so that they meet the same packets. PATHWISE_SWEEPS=all sweeps rates and congestion controls over it as well.
func TestThroughputSweepClasses(t *testing.T) {
	carrying(t)
	const all, left = 10e6 * 1448 / 1500, 4e6 * 1448 / 1500 // bit/s of payload
	sweeps := []struct {
		arguments []string
		want      map[string]float64
	}{{[]string{"--sweep", "dscp=ef,be,le", "--cc", "cubic"}, map[string]float64{"ef": all, "be": left, "le": left}}}
	within, long := 0.3, []string{ // a fifth of so short a test is slow start; no class reaches another's bounds
		"--sweep-within", "20%", "-t", "0.5", "--budget", "20s"}
	if allSweeps() {
		within, long = 0.1, []string{"-t", "2", "--budget", "60s"}
		sweeps = append(sweeps, sweeps[0], sweeps[0])
		sweeps[1].arguments, sweeps[1].want = []string{"--sweep", "rate=2mbit,4mbit,20mbit", "--dscp", "ef", "--cc", "cubic"}, map[string]float64{"2e+06": 2e6, "4e+06": 4e6, "2e+07": all}
		sweeps[2].arguments, sweeps[2].want = []string{"--sweep", "cc=reno,cubic,bbr", "--dscp", "ef"}, map[string]float64{"reno": all, "cubic": all, "bbr": all}
	}
	const link = "{between: [bob, carol], rate: 10mbit, overhead: none, delay: 2ms, " +
		"queue: {classes: [{name: premium, dscp: [EF], priority: 1, limit: 60p}, {name: scavenger, dscp: [LE], weight: 1, limit: 60p}, {name: rest, default: true, weight: 10, limit: 60p}]}}"
	spec, err := lab.ParseSpec(t.Name(), []byte("hosts: {bob: {}, carol: {}}\nlinks: ["+link+"]\ntraffic: [{from: bob, to: carol, kind: constant, rate: 6mbit}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	readyOnCarol(t, l, lab.Command{Argv: []string{lab.Self(), "respond"}, Env: append(os.Environ(), actAsPathwise+"=1")})
	for _, s := range sweeps {
		wrong := []string{"not tried"}
		for range sweepTries {
			var out bytes.Buffer
			onHost(t, l, "bob", &out, append(append([]string{lab.Self(), "throughput", "carol", "--json"}, s.arguments...), long...)...)
			var r measure.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Samples.Sweep == nil {
				t.Fatalf("no sweep, %v: %s", err, out.Bytes())
			}
			if wrong = judgePoints(t, r.Samples.Sweep, s.want, within); len(wrong) == 0 {
				break
			}
		}
		if len(wrong) > 0 {
			t.Error(strings.Join(wrong, "\n"))
		}
	}
}

// judgePoints says what is wrong with a sweep of one parameter, whose values are to bring these figures. Its first round has each of them once.
func judgePoints(t *testing.T, s *measure.Sweep, want map[string]float64, within float64) (wrong []string) {
	t.Helper()
	first := map[int]bool{}
	for i, point := range s.Order {
		if first[point] = true; i < len(want) && len(first) != i+1 {
			wrong = append(wrong, fmt.Sprintf("order %v: the first round has one twice", s.Order))
		}
	}
	for _, p := range s.Points {
		at := fmt.Sprint(p.Values[0])
		t.Logf("%s %s: %d runs, %.3g bit/s (%.3g to %.3g) of %.3g, %.3g resent, round trip under load %.3g s", s.Parameters[0].Name, at, p.N, p.Mean, p.Low, p.High, want[at],
			p.Metrics[measure.Retransmits], p.Metrics[measure.LoadedRTTMedian])
		if p.N < 3 || math.Abs(p.Mean-want[at]) > within*want[at] {
			wrong = append(wrong, fmt.Sprintf("%s: %d runs, %.3g bit/s, want %.3g", at, p.N, p.Mean, want[at]))
		}
	}
	return wrong
}
