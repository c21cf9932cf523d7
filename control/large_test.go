package control

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/fleet"
)

// sink is a Hub that forgets what it is given.
type sink struct{ *messaging }

func (sink) Plan(context.Context, fleet.Plan) error { return nil }

// large is a mesh file of so many hosts, each pair of which is pinged every so often, and filled now and then.
func large(hosts int, light, heavy string) string {
	var b strings.Builder
	b.WriteString("controller: {horizon: 6h}\nhosts:\n")
	for i := range hosts {
		fmt.Fprintf(&b, "  h%d: 10.%d.%d.1\n", i, i/256, i%256)
	}
	fmt.Fprintf(&b, `
tools: {rtt: {probe: ping, parameters: {count: 5, interval: 200ms}}, bulk: {probe: throughput, parameters: {duration: 2s}}}
groups: {all: {mesh: all}}
tests: [{tool: rtt, group: all, schedule: {every: %s, sampling: poisson}}, {tool: bulk, group: all, schedule: {every: %s}}]
`, light, heavy)
	return b.String()
}

// BenchmarkReplan makes the plans of a mesh of 1,000 hosts, each some minutes after the last: all 999,000 pairs of it are
// pinged every hour, and filled within a day.
func BenchmarkReplan(b *testing.B) {
	for _, hosts := range []int{100, 1000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			folder, now := b.TempDir(), noon
			file := filepath.Join(folder, "mesh.yaml")
			if err := os.WriteFile(file, []byte(large(hosts, "1h", "1d")), 0o600); err != nil {
				b.Fatal(err)
			}
			store, err := archive.Open(b.Context(), filepath.Join(folder, "archive"), archive.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer store.Close()
			begun := time.Now()
			c, err := New(Config{Mesh: file, Data: folder, Hub: sink{}, Archive: store, Now: func() time.Time { return now }})
			if err != nil {
				b.Fatal(err)
			}
			b.Logf("read the mesh file: %v", time.Since(begun))
			begun = time.Now()
			if err := c.replan(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.Logf("first plan: %v", time.Since(begun))
			for b.Loop() {
				now = now.Add(c.current.Until.Sub(now) / 2)
				begun = time.Now()
				next, withdrawn, err := c.nextPlan()
				if err != nil {
					b.Fatal(err)
				}
				planned := time.Now()
				if err := next.write(folder); err != nil {
					b.Fatal(err)
				}
				written := time.Now()
				if err := c.send(b.Context(), next, c.adopt(next, withdrawn)); err != nil {
					b.Fatal(err)
				}
				b.Logf("planned in %v, written in %v, dealt in %v; %d runs until %v later", planned.Sub(begun), written.Sub(planned),
					time.Since(written), len(next.Runs), next.Until.Sub(now))
			}
			info, err := os.Stat(filepath.Join(folder, planFile))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/1e6, "MB")
			b.ReportMetric(float64(len(c.current.Runs)), "runs")
		})
	}
}
