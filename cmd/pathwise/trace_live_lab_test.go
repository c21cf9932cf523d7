package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// livePath loses four of ten packets behind r3, r2 answers twenty a second, to dave lead two ways, which packets take in turn, and to erin four, which flows take, and of which one loses
// half of its packets before its first router.
const livePath = `
hosts: {bob: {}, carol: {}, dave: {}, erin: {}}
routers: {r1: {}, r2: {icmp: {rate: 20/s, burst: 4}}, r3: {dscp: 0, balance: packet}, r4: {mpls: [23990]}, r5: {silent: true}, r6: {}, left: {}, right: {}, join: {},
  split: {balance: flow}, a: {}, b: {}, c: {}, d: {}, last: {}}
links:
  - {between: [bob, r1], delay: 1ms}
  - {between: [r1, r2], delay: 1ms}
  - {between: [r2, r3], delay: 1ms}
  - {between: [r3, r4], delay: 1ms, forward: {loss: 40%}}
  - {between: [r4, r5], delay: 1ms}
  - {between: [r5, r6], delay: 1ms}
  - {between: [r6, carol], delay: 1ms}
  - {between: [r3, left], delay: 1ms}
  - {between: [r3, right], delay: 1ms}
  - {between: [left, join], delay: 1ms}
  - {between: [right, join], delay: 1ms}
  - {between: [join, dave], delay: 1ms}
  - {between: [r1, split], delay: 1ms}
  - {between: [split, a], delay: 1ms, forward: {loss: 50%}}
  - {between: [split, b], delay: 2ms}
  - {between: [split, c], delay: 3ms}
  - {between: [split, d], delay: 4ms}
  - {between: [a, last], delay: 1ms}
  - {between: [b, last], delay: 1ms}
  - {between: [c, last], delay: 1ms}
  - {between: [d, last], delay: 1ms}
  - {between: [last, erin], delay: 1ms}
`

const liveRounds = 50

// A loss that goes on to the end is blamed on the hop behind which it begins, a router that limits its answers is not, several who answer at a hop are
// told, and mtr sees the same hops and the same loss.
func TestLiveInLab(t *testing.T) {
	t.Parallel() // it waits more than it works
	carrying(t)
	spec, err := lab.ParseSpec(t.Name(), []byte(livePath))
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t, spec)
	reported := func(target, every string, more ...string) (r measure.Result) {
		var out bytes.Buffer
		onHost(t, l, "bob", &out, append([]string{lab.Self(), "trace", target, "--report", "--json", "-c", strconv.Itoa(liveRounds), "--every", every}, more...)...)
		if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Samples.Rounds == nil {
			t.Errorf("%s: %v: %s", target, err, out.Bytes())
			r.Samples.Rounds = &measure.RoundsSample{}
		}
		return r
	}
	var all sync.WaitGroup
	var seen [][]string
	all.Go(func() { seen = byMTR(t, l, "10.0.6.2") })
	var rounds *measure.RoundsSample
	all.Go(func() {
		r := reported("carol", "0.1s", "--dscp", "46")
		rounds = r.Samples.Rounds
		got := rounds.Loss
		if got.Confidence < 0.98 || got.Low > 0.45 || got.High < 0.33 { // an interval of 95 % misses the truth now and then
			t.Errorf("lossy: confidence %v in a loss of %v to %v", got.Confidence, got.Low, got.High)
		}
		limiting := []int{2}
		if len(rounds.Hops) < 2 || rounds.Hops[1].Lost < liveRounds/4 || rounds.Hops[1].Answered == 0 { // by chance r2 answered most to this one, or to the others
			limiting = got.Limiting
		}
		want := measure.PathLoss{End: 7, Reached: true, Lossy: true, After: 3, Hop: 4, By: 4, Limiting: limiting,
			LossRatio: got.LossRatio, Low: got.Low, High: got.High, Confidence: got.Confidence, Verdict: got.Verdict}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lossy (-want +got):\n%s", diff)
		}
		if h := r.Samples.Hops; len(h) != 7 || h[3].DSCP == nil || len(h[3].MPLS) != 1 || len(h[4].Addresses) > 0 {
			t.Errorf("lossy: %+v", h)
		}
	})
	// They differ in pace, so that r2 answers each of them in turn.
	for every, more := range map[string][]string{"0.107s": {}, "0.113s": {"-6"}, "0.119s": {"--proto", "tcp", "--port", "443"}} {
		all.Go(func() {
			r := reported("dave", every, more...)
			loss := r.Samples.Rounds.Loss
			if loss.Hop != 0 || loss.Lossy || !loss.Reached || loss.End != 6 {
				t.Errorf("dave %v: %+v", more, loss)
			}
			if m := r.Metrics; m[measure.HopCount] != 6 || m[measure.SentPackets] != liveRounds || m[measure.RTTMin] < 0.012 || m[measure.LossRatio] > 0.1 {
				t.Errorf("dave %v: metrics %v", more, m)
			}
			for _, h := range r.Samples.Rounds.Hops {
				if two := h.TTL == 4 || h.TTL == 5; two != (len(h.From) == 2) {
					t.Errorf("dave %v: hop %d answers from %v", more, h.TTL, h.From)
				}
			}
		})
	}
	all.Go(func() { besideEachOther(t, reported("erin", "0.1s", "--multipath", "-c", "12")) })
	all.Wait()
	if seen != nil {
		besideMTR(t, rounds.Hops, seen)
	}
}

// besideEachOther holds a report of four ways, of which the first router of one loses packets, as do those behind it, and no other.
func besideEachOther(t *testing.T, r measure.Result) {
	rounds := r.Samples.Rounds
	if len(rounds.Hops) != 5 || len(rounds.Ways) < 4 || r.Samples.Paths == nil {
		t.Errorf("four ways: %d hops, %d flows, paths %+v", len(rounds.Hops), len(rounds.Ways), r.Samples.Paths)
		return
	}
	for i, first := range []string{"10.0.13.2", "10.0.17.2"} { // a, and what answers behind it
		h := rounds.Hops[2+i]
		if len(h.Routers) != 4 {
			t.Errorf("four ways: hop %d: %+v", h.TTL, h)
			continue
		}
		share := 0.0
		for k, one := range h.Routers {
			low, high := stat.Wilson(one.Lost, one.Lost+one.Answered)
			delay := [][]float64{{0.006, 0.008, 0.010, 0.012}, {0.008, 0.009, 0.010, 0.011}}[i][k] // behind the four all answers come back by a
			lossy := one.From[0].Address == first
			timed := math.Abs(*one.Best-delay) < 0.0005 && *one.Median >= *one.Best && *one.Median < delay+0.005 // other programs delay most packets at times, but not all
			if len(one.From) != 1 || lossy != (k == 0) || lossy != (one.Lost > 0) || lossy && (low > 0.6 || high < 0.4) || !timed {
				t.Errorf("four ways: hop %d, router %d: %+v", h.TTL, k, one)
			}
			share += one.Share
		}
		if share < 0.8 || share > 1.01 { // flows of which all was lost are of nobody
			t.Errorf("four ways: hop %d: shares come to %v", h.TTL, share)
		}
	}
	for _, way := range rounds.Ways {
		if lossy := way.Routers[2] == "10.0.13.2"; way.Loss.Lossy != lossy || way.Loss.Hop != 0 && way.Loss.Hop != 3 {
			t.Errorf("four ways: %v: %+v", way.Routers, way.Loss)
		}
	}
	for _, ttl := range []int{1, 2, 5} {
		if h := rounds.Hops[ttl-1]; len(h.Routers) > 0 || h.Sent != 12*len(rounds.Ways) || (ttl < 5) != (h.Lost == 0) {
			t.Errorf("four ways: hop %d: %+v", ttl, h)
		}
	}
	if !rounds.Loss.Lossy || rounds.Loss.Hop != 0 && rounds.Loss.Hop != 3 { // with few packets the ways are not told apart, and 3 is right
		t.Errorf("four ways: all together: %+v", rounds.Loss)
	}
}

// byMTR is what mtr reports: of each hop who answers, the loss in percent and how many packets were sent; nil where there is no mtr.
func byMTR(t *testing.T, l *lab.Lab, target string) (seen [][]string) {
	if _, err := exec.LookPath("mtr"); err != nil {
		return nil
	}
	var out bytes.Buffer
	onHost(t, l, "bob", &out, "mtr", "-n", "-r", "-c", strconv.Itoa(liveRounds), "-i", "0.103", "-G", "1", target)
	t.Log("\n" + strings.TrimSpace(out.String()))
	return regexp.MustCompile(`(?m)^ *\d+\.\|-- (\S+) +([0-9.]+)%? +(\d+) `).FindAllStringSubmatch(out.String(), -1)
}

// besideMTR holds the hops of a report against those that mtr saw.
func besideMTR(t *testing.T, hops []measure.HopRounds, seen [][]string) {
	if len(seen) != len(hops) {
		t.Fatalf("mtr sees %d hops, not %d", len(seen), len(hops))
	}
	for i, h := range hops {
		if h.TTL == 2 { // which limits its answers, to both together
			continue
		}
		who := "???"
		if len(h.From) > 0 {
			who = h.From[0].Address
		}
		ratio, _ := strconv.ParseFloat(seen[i][2], 64)
		sent, _ := strconv.ParseFloat(seen[i][3], 64)
		lost := ratio / 100 * sent
		if seen[i][1] != who {
			t.Errorf("hop %d is %s, of mtr %s", h.TTL, who, seen[i][1])
		}
		if stat.Fisher(float64(h.Lost), float64(h.Lost+h.Answered), lost, sent) < 0.0001 {
			t.Errorf("hop %d lost %d of %d, of mtr %.0f of %.0f", h.TTL, h.Lost, h.Sent, lost, sent)
		}
	}
}
