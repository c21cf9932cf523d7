package probe

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// written are the fates of packets, of which an x is lost.
func written(fate string) fates {
	var lost []bool
	for _, c := range fate {
		lost = append(lost, c == 'x')
	}
	return fatesOf(lost)
}

// withLoss are the metrics of packets with fates as written, and others.
func withLoss(fate string, others map[measure.Metric]float64) map[measure.Metric]float64 {
	all := written(fate).metrics()
	maps.Copy(all, others)
	return all
}

// All metrics of loss stand in a table, by what became of the packets: go test ./probe -run TestLossMetrics -update writes it, for a
// reader to look at.
func TestLossMetrics(t *testing.T) {
	const table = "testdata/loss.txt"
	var b strings.Builder
	row := func(name string, f fates) {
		fmt.Fprintf(&b, "%s\n", name)
		all := f.metrics()
		for _, m := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(&b, "    %-32s %.6g\n", m, all[m])
		}
	}
	for _, fate := range []string{"....", "x", ".x..xx.", "xx.xx.x.x.xxx"} {
		row("packets "+fate, written(fate))
	}
	for _, c := range []struct {
		name string
		of   iperf3.Totals
	}{
		{"10 datagrams, none lost", iperf3.Totals{Packets: 10, HaveReceived: true, ReceivedBytes: 1}},
		{"10 datagrams, 6 lost in 2 runs", iperf3.Totals{Packets: 10, Lost: 6, LossRuns: 2, HaveReceived: true, ReceivedBytes: 1}},
		{"10 datagrams, 6 lost, a peer that counts no runs", iperf3.Totals{Packets: 10, Lost: 6, HaveReceived: true, ReceivedBytes: 1}},
		{"10 datagrams, 6 lost, a peer that tells of 7 runs", iperf3.Totals{Packets: 10, Lost: 6, LossRuns: 7, HaveReceived: true, ReceivedBytes: 1}},
		{"10 datagrams, of which none arrived", iperf3.Totals{Packets: 10, HaveReceived: true}},
		{"no datagrams", iperf3.Totals{HaveReceived: true}},
	} {
		row(c.name, datagramFates(c.of))
	}
	if *update {
		if err := os.WriteFile(table, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-table +metrics); -update writes the table anew:\n%s", diff)
	}
}
