package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/record"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/terminal"
)

// printTruth prints links, what middleboxes and adapters counted, flows, and whether all this can be trusted.
func (s *session) printTruth(w io.Writer, t *lab.Truth, names map[string]string, window lab.Window) {
	if len(t.Links) > 0 {
		s.printLinks(w, t.Links)
	}
	for _, l := range t.Links {
		if l.Adapter != nil {
			from, _ := l.Ends()
			printCounts(w, "adapter of "+from, l.Adapter)
		}
	}
	for _, r := range t.Routers {
		printCounts(w, "router "+r.Name, r.Counts)
	}
	if len(t.Flows) > 0 {
		if len(t.Links) > 0 {
			fmt.Fprintln(w)
		}
		s.printFlows(w, t.Flows, names)
	}
	if window != (lab.Window{}) {
		fmt.Fprintf(w, "flows: packets sent from %.3f s to %.3f s after the lab came up\n", max(0, t.FlowsFrom), t.FlowsTo)
		if t.RecordsFrom > t.FlowsFrom {
			fmt.Fprintf(w, "Packets sent before %.3f s are no longer known one by one, and are missing here.\n", t.RecordsFrom)
		}
	}
	printBottleneck(w, t.Emulator)
}

func printBottleneck(w io.Writer, e lab.EmulatorTruth) {
	if e.Bottleneck {
		fmt.Fprintf(w, "The emulator was the bottleneck: %s.\n", e.Why)
	}
}

// What a narrow terminal leaves out of the tables first, by the numbers of columns.
var (
	linkSpare = []int{8, 5, 2, 7}    // how late the emulator was, of which a line tells where it matters; quantiles and what follows from others
	flowSpare = []int{4, 3, 7, 9, 5} // reordering, runs of losses, and quantiles beside the median
)

func (s *session) printLinks(w io.Writer, links []lab.LinkTruth) {
	rows := [][]string{{"link", "packets", "delivered", "loss", "queue", "min", "median", "p99", "late p99", ""}}
	for i := range links {
		l := &links[i]
		from, to := l.Ends()
		d, also := l.DelaySeconds, alsoOf(l)
		if also != "" {
			rows[0][9] = "also"
		}
		lost, full := l.Dropped[packet.Loss.String()], l.Dropped[packet.QueueFull.String()]
		counts := numbers(l.Packets, l.Delivered, lost, full)
		counts[2] = s.marked(counts[2], terminal.Palette.Bad, lost > 0)
		counts[3] = s.marked(counts[3], terminal.Palette.Warn, full > 0)
		rows = append(rows, append([]string{from + " > " + to}, append(counts,
			quantity.FormatSeconds(d.Min), quantity.FormatSeconds(d.Median), quantity.FormatSeconds(d.P99),
			quantity.FormatSeconds(l.EmulatorLateSeconds), also)...))
	}
	s.table(w, rows, linkSpare, 9)
}

func numbers(counts ...uint64) (texts []string) {
	for _, n := range counts {
		texts = append(texts, strconv.FormatUint(n, 10))
	}
	return texts
}

// alsoOf lists what rarely happens on a link: drops for other causes, and what came to packets that went on.
func alsoOf(l *lab.LinkTruth) string {
	var also []string
	for _, cause := range slices.Sorted(maps.Keys(l.Dropped)) {
		if n := l.Dropped[cause]; n > 0 && cause != packet.Loss.String() && cause != packet.QueueFull.String() {
			also = append(also, fmt.Sprintf("%d %s", n, strings.ReplaceAll(cause, "_", " ")))
		}
	}
	for _, effect := range []struct {
		count uint64
		name  string
	}{{l.Duplicated, "duplicated"}, {l.Reordered, "reordered"}, {l.Corrupted, "corrupted"}, {l.Marked, "marked"}, {l.Remarked, "remarked"}} {
		if effect.count > 0 {
			also = append(also, fmt.Sprintf("%d %s", effect.count, effect.name))
		}
	}
	return strings.Join(also, ", ")
}

// printCounts prints the counters of a struct that are not zero, under their JSON names, in a line; none if all are.
func printCounts(w io.Writer, what string, counts any) {
	text, err := json.Marshal(counts)
	if err != nil {
		return // a struct of numbers always encodes
	}
	var values map[string]int64
	if json.Unmarshal(text, &values) != nil {
		return
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] != 0 {
			parts = append(parts, fmt.Sprintf("%d %s", values[name], strings.ReplaceAll(name, "_", " ")))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "%s: %s\n", what, strings.Join(parts, ", "))
	}
}

func (s *session) printFlows(w io.Writer, flows []record.FlowTruth, names map[string]string) {
	rows := [][]string{{"flow", "packets", "loss", "run", "reord", "min", "median", "p95", "p99", "max", "rate"}}
	for i := range flows {
		f := &flows[i]
		d := f.DelaySeconds
		row := append([]string{f.NameWith(names)}, numbers(f.Packets)...)
		row = append(row, s.marked(quantity.FormatRatio(f.LossRatio), terminal.Palette.Bad, f.LossRatio > 0), strconv.Itoa(f.LossRunMax), strconv.FormatUint(f.Reordered, 10))
		for _, v := range []float64{d.Min, d.Median, d.P95, d.P99, d.Max} {
			row = append(row, quantity.FormatSeconds(v))
		}
		rows = append(rows, append(row, quantity.FormatKnownRate(f.RateBitsPerSecond)))
	}
	s.table(w, rows, flowSpare)
}
