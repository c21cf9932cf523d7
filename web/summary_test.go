package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/measure"
)

// smallMesh is a planted history of few hosts, and the mesh file of them.
func smallMesh(now time.Time, faults ...generated.Fault) (p *planted, mesh string) {
	p = &planted{History: generated.History{Seed: 4, Start: now.Add(-29 * time.Hour), End: now, Steady: true, Faults: faults,
		Hosts: generated.Scattered("h", 7, 4), Tests: []generated.Test{
			{Tool: generated.Ping, Every: 5 * time.Minute}, {Tool: generated.Throughput, Every: 30 * time.Minute}}}}
	lines := []string{}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.Site = fmt.Sprintf("site%d", i%3)
		lines = append(lines, fmt.Sprintf("%s: {address: %s, site: %s}", h.Name, h.Address, h.Site))
	}
	p.Links = [][2]string{{"site0", "site1"}, {"site1", "site2"}}
	return p, "hosts: {" + strings.Join(lines, ", ") + "}\ntools: {rtt: {probe: ping}}\ngroups: {all: {mesh: all}}\n" +
		"tests: [{tool: rtt, group: all, schedule: {every: 1h}}]\n"
}

// The summary of an archive names the host that loses packets, the pair that is slow, since when, and what was diagnosed since; what it
// reads of the archive is what the histories of TestPlanted are judged by.
func TestSummary(t *testing.T) {
	now := time.Now().UTC()
	began := now.Add(-100 * time.Minute)
	p, mesh := smallMesh(now, generated.Fault{Host: "h3", Since: began, Loss: 0.05}, generated.Fault{Source: "h1", Target: "h5", Since: began.Add(-2 * time.Hour), Rate: 0.2})
	b := newBenchOf(t, mesh)
	b.serve(b.Handler(owner))
	if empty := read[summaryDoc](b, "/api/v1/summary"); len(empty.Troubles) != 0 || empty.Looked != 0 || empty.Newest != nil || len(empty.Classes) != 49 {
		t.Errorf("of nothing: %+v", empty)
	}
	if err := p.Fill(t.Context(), b.Archive); err != nil {
		t.Fatal(err)
	}
	d := resultOf("01KAG0000000000000000000ZZ", now.Add(-10*time.Minute))
	d.Kind, d.Tool, d.Source.Name, d.Target.Name = control.KindDiagnosis, control.KindDiagnosis, "h3", "h2"
	d.Metrics = nil // it measured nothing itself
	d.Parameters["verdict"], d.Parameters["trouble"] = "random-loss", "host h3"
	d.Samples.Findings = []measure.Finding{{ID: "random-loss", Severity: measure.Problem, Explanation: "Packets are lost.",
		Advice: []measure.Advice{{Host: "h3", Command: "ethtool -S eth0", Why: "a cable"}}}}
	if err := b.Archive.Put(t.Context(), []*measure.Result{d}); err != nil {
		t.Fatal(err)
	}
	doc, err := b.summarize(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Troubles) != 2 || doc.Looked != 42 || doc.Newest == nil {
		t.Fatalf("%+v", doc)
	}
	lost, slow := doc.Troubles[0], doc.Troubles[1]
	if s := lost.Signs[0]; lost.Kind != analysis.AtHost || lost.Name != "h3" || s.Aspect != analysis.Losing || s.All != 12 || s.Ill < 10 ||
		s.Since.Sub(began).Abs() > 2*onsetStep || math.Abs(s.Now-0.05) > 0.02 {
		t.Errorf("of the host that loses packets: %+v", lost)
	}
	if s := slow.Signs[0]; slow.Kind != analysis.OfPair || slow.Source != "h1" || slow.Target != "h5" || s.Aspect != analysis.Slowed || s.Now > 0.35*s.Usual {
		t.Errorf("of the pair that is slow: %+v", slow)
	}
	if off := slow.Signs[0].Since.Sub(began.Add(-2 * time.Hour)); off < -onsetStep || off > 30*time.Minute { // of a test each half hour
		t.Errorf("the pair is slow since %v too late", off)
	}
	if f := lost.Diagnosis; f == nil || f.Result != d.ID || f.Cause != "Packets are lost." || f.Command != "ethtool -S eth0" || f.Title == "random-loss" {
		t.Errorf("what was diagnosed: %+v", f)
	}
	if n := len(lost.Spark.Values); n < 20 || lost.Spark.Values[0] > 0.01 || lost.Spark.Values[n-1] < 0.02 {
		t.Errorf("the line of the loss: %+v", lost.Spark)
	}
	at := func(source, target string) uint8 {
		host := func(name string) int {
			return slices.IndexFunc(doc.Hosts, func(h matrixHost) bool { return h.Name == name })
		}
		return doc.Classes[host(source)*7+host(target)]
	}
	if at("h1", "h5") != classWrong || at("h3", "h1") < classSign || at("h2", "h4") != classGood || at("h2", "h2") != 0 {
		t.Errorf("classes %v", doc.Classes)
	}
	b.expect(http.MethodGet, "/api/v1/summary?x=1", "", http.StatusUnprocessableEntity, "")
	if u := doc.Unasked; u.Hourly != 4 || u.Made != 1 || u.Next != nil || !lost.Diagnosis.Unasked || lost.Begun != nil {
		t.Errorf("of diagnoses that nobody asked for: %+v, of the host %+v", u, lost.Diagnosis)
	}
	sameSpells(t, b, p)
}

// counting counts which matrices are read of an archive that end when it is asked.
type counting struct {
	archive.Archive
	newest map[string]int // by metric
	now    time.Time
}

func (c *counting) Matrix(ctx context.Context, q archive.MatrixQuery) ([]archive.Cell, error) {
	if q.To.Equal(c.now) {
		c.newest[q.Match.Metric]++
	}
	return c.Archive.Matrix(ctx, q)
}

// The newest hour is read once of each metric, since it is all that is not remembered.
func TestNewestHourIsReadOnce(t *testing.T) {
	now := time.Now().UTC()
	p, mesh := smallMesh(now)
	b := newBenchOf(t, mesh)
	if err := p.Fill(t.Context(), b.Archive); err != nil {
		t.Fatal(err)
	}
	c := &counting{b.Archive, map[string]int{}, now}
	b.Archive = c
	if _, err := b.watch(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{string(measure.LostPackets): 1, string(measure.SentPackets): 1, string(measure.RTTMedian): 1, string(measure.Throughput): 1}
	if diff := gocmp.Diff(want, c.newest); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A diagnosis of a pair between two hosts that are ill is told of neither where there is another of one of them alone.
func TestWhoseDiagnosis(t *testing.T) {
	w := &watched{pairs: []analysis.Watched{{Source: "h", Target: "k"}, {Source: "h", Target: "a"}, {Source: "k", Target: "a"}},
		steps: map[analysis.Aspect]time.Duration{}}
	signs := []analysis.Told{{Sign: analysis.Sign{Aspect: analysis.Losing}}}
	h := &analysis.Health{Troubles: []analysis.Trouble{{Pairs: []int{0, 1}, Signs: signs}, {Pairs: []int{0, 2}, Signs: signs}}}
	found := []foundDoc{{Result: "both", Source: "h", Target: "k"}, {Result: "h alone, back", Source: "a", Target: "h"}}
	for k, want := range []string{"h alone, back", "both"} {
		doc := w.trouble(h, k, found, nil)
		if got := doc.Diagnosis; got == nil || got.Result != want {
			t.Errorf("of trouble %d: %+v, want %s", k, got, want)
		}
		if of := w.pairs[k+1]; doc.Source != of.Source || doc.Target != of.Target {
			t.Errorf("trouble %d shows most from %s to %s, want the pair that is ill of nothing else, %s to %s", k, doc.Source, doc.Target, of.Source, of.Target)
		}
	}
}

// A diagnosis whose verdict is no finding is told in words, too, with what came through.
func TestFoundIn(t *testing.T) {
	for verdict, want := range map[string]foundDoc{
		"healthy": {Title: "The path carries what its narrowest link can", Cure: "capacity", Cause: "3.60 Mbit/s came through of 3.80 Mbit/s that the path carries."},
		"unknown": {Title: "It cannot be said whether the path is slow", Cause: "3.60 Mbit/s came through of 3.80 Mbit/s that the path carries."},
		"random-loss": {Title: "Packets are lost although the path is not busy", Cause: "Lost.", Severity: "problem", Host: "a", Command: "ethtool", Cure: "cable",
			Achieved: &[]float64{3.6e6}[0], Expected: &[]float64{9e6}[0]},
		"of-next-years": {Title: "of-next-years"},
	} {
		r := resultOf("01KAG0000000000000000000ZZ", time.Now())
		r.Parameters = map[string]any{"verdict": verdict, "trouble": "host h"}
		r.Metrics = map[measure.Metric]float64{measure.Achieved: 3.6e6, measure.Expected: 3.8e6}
		r.Samples.Findings = []measure.Finding{{ID: "small-mss", Severity: measure.Info}, {ID: "random-loss", Severity: measure.Problem, Explanation: "Lost.",
			Predicted: &measure.Predicted{BitsPerSecond: 9e6}, Advice: []measure.Advice{{Host: "a", Command: "ethtool", Why: "cable"}}},
			{ID: "path-full", Severity: measure.Info, Explanation: "What the title says.", Advice: []measure.Advice{{Why: "capacity"}}}}
		want.Result, want.At, want.Source, want.Target = r.ID, r.Started, r.Source.Name, r.Target.Name
		want.Verdict, want.Unasked, want.Trouble, want.Severity = verdict, true, "host h", cmp.Or(want.Severity, "info")
		if diff := gocmp.Diff(want, foundIn(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", verdict, diff)
		}
	}
}

// The summary says how many diagnoses that nobody asked for there were in the hour, and of each trouble which is under way.
func TestUnaskedInSummary(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	next := now.Add(time.Minute)
	budget := &control.UnaskedBudget{Hourly: 4, Made: 4, Next: next, UnderWay: []control.UnaskedBegins{{Trouble: "host h", Source: "h", Target: "a", Began: now}}}
	if diff := gocmp.Diff(unaskedDoc{4, 4, &next}, unaskedOf(budget)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := unaskedOf(&control.UnaskedBudget{Hourly: 4, Made: 3}); got.Next != nil {
		t.Errorf("the next may begin at %v, though it may at once", got.Next)
	}
	for name, want := range map[string]*begunDoc{"h": {now, "h", "a"}, "k": nil} {
		got := begunOf(&analysis.Trouble{Part: analysis.Part{Kind: analysis.AtHost, Name: name}}, budget)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("of %s (-want +got):\n%s", name, diff)
		}
	}
}

// sameSpells compares what is read of an archive with what gathered makes of the Results.
func sameSpells(t *testing.T, b *bench, p *planted) {
	t.Helper()
	got, err := b.watch(t.Context(), p.End)
	if err != nil {
		t.Fatal(err)
	}
	want := p.watched(t)
	compared := 0
	for _, w := range want {
		i := slices.IndexFunc(got.pairs, func(g analysis.Watched) bool { return g.Source == w.Source && g.Target == w.Target })
		for _, aspect := range analysis.Aspects {
			mine := got.pairs[i].Spells[aspect]
			for k, s := range w.Spells[aspect] {
				g := mine[k]
				near := func(a, b float64) bool { return math.Abs(a-b) <= 0.03*math.Max(math.Abs(a), math.Abs(b)) }
				same := g.From.Equal(s.From) && g.Length == s.Length && g.Runs == s.Runs && near(g.Of, s.Of) && near(g.All, s.All)
				if s.Runs > 0 && aspect == analysis.Slowed {
					same = same && near(g.Value, s.Value)
				}
				if compared++; !same {
					t.Fatalf("%s to %s, %s: %+v, want %+v", w.Source, w.Target, aspect, g, s)
				}
			}
		}
	}
	if compared < 42*3*24 {
		t.Errorf("compared %d spells", compared)
	}
}
