package echo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/record"
)

// The test binary is also the engine of the labs that it starts, and the Pinger on their hosts.
func TestMain(m *testing.M) {
	lab.RunEngineIfAsked()
	if len(os.Args) > 2 && os.Args[1] == pingFlag {
		if err := pingAsTold(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// pingFlag makes this program ping addresses, and print what became of the requests to each.
const pingFlag = "-ping"

const (
	labRounds   = 200
	labInterval = 5 * ms
	labTimeout  = 500 * ms
)

// pinged is what became of the requests to one address.
type pinged struct {
	Counts
	Reordered uint64 // answers to a request before one that was answered already (RFC 4737 section 3.3)
	Kernel    uint64 // round trips by the kernel's clock
	Why       string // of the last refusal, and who said so
}

func pingAsTold(addresses []string) error {
	p := Pinger{Count: labRounds, Interval: labInterval, Timeout: labTimeout}
	for _, text := range addresses {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return err
		}
		p.Targets = append(p.Targets, a)
	}
	all, newest := make([]pinged, len(addresses)), make([]uint32, len(addresses))
	p.Tell = func(e Event) {
		to := &all[e.Target]
		switch e.Fate {
		case Refused:
			to.Why = e.Why + " " + e.From.String()
		case Answered:
			if e.Sequence < newest[e.Target] {
				to.Reordered++
			}
			if newest[e.Target] = max(newest[e.Target], e.Sequence); e.Kernel {
				to.Kernel++
			}
		}
	}
	counts, err := p.Run(context.Background())
	if err != nil {
		return err
	}
	for i := range all {
		all[i].Counts = counts[i]
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

const manyPaths = `
hosts: {a: {}, clean: {}, there: {}, both: {}, bursts: {}, twice: {}, order: {}, far: {}}
routers: [r]
links:
  - {between: [a, r], delay: 1ms}
  - {between: [r, clean], delay: 2ms}
  - {between: [r, there], delay: 3ms, forward: {loss: 10%}}
  - {between: [r, both], delay: 4ms, loss: 20%}
  - {between: [r, bursts], delay: 5ms, reverse: {loss: {gilbert: {ratio: 10%, burst: 5}}}}
  - {between: [r, twice], delay: 6ms, reverse: {duplicate: 20%}}
  - {between: [r, order], delay: 7ms, reverse: {reorder: {ratio: 10%, by: 12ms}}}
  - {between: [r, far], delay: 300ms}
`

// Over paths that lose, double and reorder, and one that is too long, both families at once: for each target the counts are those of
// the lab's truth, and none of the round trips is shorter than the path.
func TestPingLab(t *testing.T) {
	spec, err := lab.ParseSpec("paths", []byte(manyPaths))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(t.Context(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	state, err := l.State()
	if err != nil {
		t.Fatal(err)
	}
	source, targets, names := []string(nil), []string(nil), []string(nil)
	for _, n := range state.Nodes {
		if n.Name == "a" {
			source = n.Addresses
		} else if n.Kind == "host" {
			targets = append(targets, n.Addresses...)
			names = append(names, n.Name, n.Name)
		}
	}
	const nowhere = "10.200.0.1"
	all := pingInLab(t, l, append(slices.Clone(targets), nowhere))
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	for i, target := range targets {
		path := map[string]time.Duration{"clean": 6 * ms, "there": 8 * ms, "both": 10 * ms, "bursts": 12 * ms, "twice": 14 * ms, "order": 16 * ms}[names[i]]
		want := expected(truth.Flows, source[i%2], target)
		if names[i] == "far" {
			want.Lost, want.Answered, want.Kernel = labRounds, 0, 0
			if all[i].Late == 0 || all[i].Late > labRounds {
				t.Errorf("%s: %d replies came late", target, all[i].Late)
			}
		} else if want.Kernel != all[i].Answered || all[i].Least < path || all[i].Least > path+50*ms {
			t.Errorf("%s to %s: least round trip %v, want %v and little more", names[i], target, all[i].Least, path)
		}
		all[i].Late = 0
		if diff := cmp.Diff(want, all[i], roundTrips); diff != "" {
			t.Errorf("%s at %s: -truth +counted\n%s", names[i], target, diff)
		}
	}
	want := pinged{Counts: Counts{Sent: labRounds, Refused: labRounds}, Why: "host unreachable 10.0.0.2"}
	if diff := cmp.Diff(want, all[len(targets)], roundTrips); diff != "" {
		t.Errorf("%s: -want +counted\n%s", nowhere, diff)
	}
}

// expected is what the truth says of the requests from one address to another and of the replies.
func expected(flows []record.FlowTruth, source, target string) (p pinged) {
	for _, f := range flows {
		switch {
		case f.Source == source && f.Target == target:
			p.Sent += f.Packets
			p.Lost += f.Lost
		case f.Source == target && f.Target == source:
			p.Lost += f.Lost
			p.Answered += f.Delivered
			p.Kernel += f.Delivered
			p.Duplicates += f.Duplicates
			p.Reordered += f.Reordered
		}
	}
	return p
}

// pingInLab has host a ping addresses.
func pingInLab(t *testing.T, l *lab.Lab, addresses []string) (all []pinged) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	process, err := l.Start(t.Context(), "a", lab.Command{Argv: append([]string{lab.Self(), pingFlag}, addresses...), Stdout: writer, Stderr: os.Stderr})
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	readErr := json.NewDecoder(reader).Decode(&all)
	if status, err := process.Wait(); status != 0 || err != nil || readErr != nil || len(all) != len(addresses) {
		t.Fatalf("status %d, %v, %v; %d of %d addresses", status, err, readErr, len(all), len(addresses))
	}
	return all
}
