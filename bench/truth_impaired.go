package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/measure"
)

// Each impaired path is measured with so many packets.
const (
	impairedPackets  = 2000
	impairedInterval = time.Millisecond
)

// impairedPaths are links that lose, copy and reorder, as in a lab file.
var impairedPaths = []string{
	"delay: 20ms, loss: 1%",
	"delay: 20ms, loss: 10%",
	"delay: 20ms, loss: {every: 50}",
	"delay: 20ms, loss: {gilbert: {ratio: 2%, burst: 5}}",
	"delay: 20ms, loss: {gilbert: {enter: 0.5%, leave: 10%, good: 0, bad: 80%}}",
	"delay: 20ms, loss: {period: 1s, for: 100ms}",
	"forward: {delay: 20ms, loss: 3%}, reverse: {delay: 5ms}",
	"forward: {delay: 20ms}, reverse: {delay: 5ms, loss: 3%}",
	"delay: 20ms, duplicate: 1%",
	"delay: 20ms, duplicate: {ratio: 5%, correlation: 20%}",
	"forward: {delay: 20ms, duplicate: 5%}, reverse: {delay: 20ms, loss: 2%}",
	"delay: 20ms, reorder: {ratio: 2%, by: 10ms}",
	"delay: 20ms, reorder: {gap: 5, by: 3ms}",
	"delay: 20ms, jitter: {spread: 3ms, distribution: normal, overtake: true}",
	"forward: {delay: 20ms, reorder: {ratio: 5%, by: 5ms}}, reverse: {delay: 20ms, duplicate: 3%}",
	"forward: {delay: 20ms, reorder: {ratio: 5%, by: 5ms}}, reverse: {delay: 20ms, reorder: {ratio: 5%, by: 5ms}}",
	"delay: 20ms, corrupt: 2%",
	"rate: 600kbit, delay: 20ms, queue: 3kB",
	"delay: 20ms, police: {rate: 300kbit, burst: 4kB}",
	"forward: {delay: 20ms, loss: 2%, duplicate: 2%, reorder: {ratio: 2%, by: 5ms}}, reverse: {delay: 10ms, loss: {gilbert: {ratio: 2%, burst: 4}}, duplicate: 1%}",
}

// impaired prints for each path what owd counted and what was so. By OWAMP each end keeps records of what it received; by STAMP one end works out
// both ways from what came back.
func (b *bench) impaired(ctx context.Context) error {
	fmt.Fprintf(b.out, "lost, copied and reordered on each way, as pathwise owd counts of %d packets and (where it differs) in truth:\n", impairedPackets)
	exact := map[string]int{}
	for _, link := range impairedPaths {
		fmt.Fprintf(b.out, "  %s\n", link)
		for _, proto := range []string{"owamp", "stamp"} {
			r, _, truth, err := b.owdInLab(ctx, proto, link, impairedPackets, impairedInterval)
			if err != nil {
				return fmt.Errorf("by %s over %s: %w", proto, link, err)
			}
			line, equal := "", true
			slices.SortFunc(truth.Flows, func(a, b record.FlowTruth) int { return cmp.Compare(wayFrom[a.Source], wayFrom[b.Source]) })
			for _, f := range truth.Flows {
				if f.Protocol == "udp" {
					equal = countWay(r, wayFrom[f.Source], f, &line) && equal
				}
			}
			if equal {
				exact[proto]++
			}
			fmt.Fprintf(b.out, "    %s%s\n", proto, line)
		}
	}
	fmt.Fprintf(b.out, "exact by OWAMP in %d, by STAMP in %d of %d\n", exact["owamp"], exact["stamp"], len(impairedPaths))
	return nil
}

// wayFrom is the way that packets take from the address of a host of the lab.
var wayFrom = map[string]string{firstAddresses[0]: measure.Forward, firstAddresses[1]: measure.Reverse}

// countWay adds to a line what owd counted on a way, and says whether it was so. Of the last packets, if nothing came back after them, nobody
// knows which way they were lost: as many may be missing on either.
func countWay(r *measure.Result, way string, truth record.FlowTruth, line *string) (equal bool) {
	m := r.Metrics
	open := 0.
	if r.Parameters["proto"] == "stamp" {
		open = m[measure.SentPackets] - m[measure.SentOn(measure.Forward)]
	}
	if *line += fmt.Sprintf(" %s:", way); open > 0 {
		*line += fmt.Sprintf(" open %.0f,", open)
	}
	equal = open <= impairedPackets/100 // a few at the end
	for _, q := range []struct {
		name         string
		counted      float64
		truth, spare float64
	}{
		{"lost", m[measure.LostOn(way)], float64(truth.Lost + truth.Corrupted), open}, // the kernel drops what is corrupt
		{"copied", m[measure.DuplicateOn(way)], float64(truth.Duplicates), 0},
		{"reordered", m[measure.ReorderedOn(way)], float64(truth.Reordered), 0},
	} {
		*line += fmt.Sprintf(" %s %.0f", q.name, q.counted)
		if q.counted > q.truth || q.counted < q.truth-q.spare {
			*line += fmt.Sprintf(" (%.0f)", q.truth)
			equal = false
		}
	}
	*line += ";"
	return equal
}
