package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// traced is a trace over routers of one letter each, to a host.
func traced(source, target, routers string, at time.Time) *measure.Result {
	r := measure.NewResult("trace", at)
	r.Source, r.Target = measure.Endpoint{Name: source, Address: "10.0.0.1"}, measure.Endpoint{Name: target, Address: "10.0.0.2"}
	r.Tool, r.Role = "trace", measure.RoleDemand
	r.Metrics[measure.HopCount] = float64(len(routers) + 1)
	for i, name := range routers {
		r.Samples.Hops = append(r.Samples.Hops, measure.Hop{TTL: i + 1, Addresses: []string{string(name)}})
	}
	r.Samples.Hops = append(r.Samples.Hops, measure.Hop{TTL: len(routers) + 1, Addresses: []string{target}, Reply: "port unreachable"})
	return r
}

// A path is divided by the hosts that its newest traces show along it, or by those that are named, in their order along it; its parts are
// measured one after the other, between their own ends.
func TestDiagnoseSegments(t *testing.T) {
	for _, c := range []struct {
		name   string
		points []string
		want   []string // parts
	}{
		{"by routes", nil, []string{"a - p", "p - q", "q - b"}},
		{"named", []string{"q", "p"}, []string{"a - p", "p - q", "q - b"}},
		{"named, of unknown routes", []string{"off"}, []string{"a - off", "off - b"}},
	} {
		b, p := newPath(t, "hosts: {a: 10.0.0.1, b: 10.0.0.2, p: 10.0.0.3, q: 10.0.0.4, off: 10.0.0.5, away: 10.0.0.6}\n"+someTests)
		p.lossy, p.route = true, "ABC"
		here := func(DiagnosisLine) {
			for _, host := range []string{"a", "b", "p", "q", "off"} {
				b.roster.note(fleet.Status{Host: host}, b.now)
			}
		}
		before := b.now.Add(-time.Hour)
		if err := b.archive.Put(t.Context(), []*measure.Result{
			traced("a", "p", "XY", before.Add(-time.Hour)), traced("a", "p", "A", before), traced("p", "b", "xBC", before),
			traced("a", "q", "AB", before), traced("q", "b", "xC", before),
			traced("a", "off", "XY", before), traced("off", "b", "YC", before),
			traced("a", "away", "ABC", before), traced("away", "b", "x", before),
		}); err != nil {
			t.Fatal(err)
		}
		lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour, Segments: true, Points: c.points, Show: here})
		if err != nil {
			t.Fatal(err)
		}
		last := lines[len(lines)-1]
		found := last.Diagnosis.Segments
		if found == nil || found.Measured != diagnose.BySegments {
			t.Fatalf("%s: %+v, notes %q", c.name, found, last.Diagnosis.Notes)
		}
		var parts, ends []string
		for i := range found.Segments {
			parts = append(parts, found.Segments[i].Name())
		}
		for _, r := range found.Results {
			if name := r.Source.Name + " - " + r.Target.Name; !slices.Contains(ends, name) {
				ends = append(ends, name)
			}
			if r.Samples.TCPInfo != nil {
				t.Errorf("%s: the diagnosis has samples", c.name)
			}
		}
		if !slices.Equal(parts, c.want) || !slices.Equal(ends, c.want) {
			t.Errorf("%s: parts %q, measured %q, want %q", c.name, parts, ends, c.want)
		}
		for _, l := range lines {
			if l.Step != "" && !slices.ContainsFunc(lastPlan(lines), func(s diagnose.Step) bool { return s.Name == l.Step }) {
				t.Errorf("%s: %s was not planned", c.name, l.Step)
			}
		}
		filed, ids := FiledSegments(b.filed()[0])
		if diff := cmp.Diff(resultIDs(found.Results), ids); diff != "" {
			t.Errorf("%s: Results of the parts (-found +filed):\n%s", c.name, diff)
		}
		found.Results = nil
		if diff := cmp.Diff(found, filed); diff != "" {
			t.Errorf("%s: parts (-found +filed):\n%s", c.name, diff)
		}
	}
}

// lastPlan is the plan as it was told last.
func lastPlan(lines []DiagnosisLine) (plan []diagnose.Step) {
	for _, l := range lines {
		if l.Plan != nil {
			plan = l.Plan
		}
	}
	return plan
}

// Where no host is known along the route, a diagnosis says so, and is one of the whole.
func TestDiagnoseWithoutPoints(t *testing.T) {
	b, _ := newPath(t, twoHosts+someTests)
	lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour, Segments: true})
	if err != nil {
		t.Fatal(err)
	}
	d := lines[len(lines)-1].Diagnosis
	if d.Segments != nil || len(d.Notes) != 1 || !strings.HasPrefix(d.Notes[0], "the path is not divided into segments: no host") {
		t.Errorf("%+v, notes %q", d.Segments, d.Notes)
	}
}

// What is filed may be of another build, or of nobody: what cannot be read as parts is none.
func TestFiledSegments(t *testing.T) {
	for name, text := range map[string]any{"none": nil, "a word": "parts", "a list": []any{1.0}, "other fields": map[string]any{"segments": "two"}} {
		r := measure.NewResult(KindDiagnosis, noon)
		if text != nil {
			r.Parameters["segments"] = text
		}
		if parts, ids := FiledSegments(r); parts != nil || ids != nil {
			t.Errorf("%s: %+v %q", name, parts, ids)
		}
	}
}

func TestBadPoints(t *testing.T) {
	b, _ := newPath(t, "hosts: {a: 10.0.0.1, b: 10.0.0.2, p: 10.0.0.3, r: {address: 10.0.0.4, reach: responder}}\n"+someTests)
	for _, c := range []struct{ points, want string }{
		{"x", `points: "x": want a host of the mesh file`},
		{"a", `points: "a": want each host once, and neither source nor target`},
		{"p p", `points: "p": want each host once, and neither source nor target`},
		{"r", `points: "r": want a host that runs an agent; this one only answers`},
		{"1 2 3 4 5 6 7 8 9", `points: "1,2,3,4,5,6,7,8,9": want 8 at most`},
	} {
		lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Segments: true, Points: strings.Fields(c.points)})
		if err == nil || err.Error() != c.want || lines != nil {
			t.Errorf("%s: %v, %d lines, want %s", c.points, err, len(lines), c.want)
		}
	}
}

// Of many places along a route some are taken that are far from each other, and of hosts at one place one.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		places map[string]diagnose.Position
		want   []string
	}{
		{nil, nil},
		{map[string]diagnose.Position{"p": {Routers: 2}}, []string{"p"}},
		{map[string]diagnose.Position{"z": {Routers: 2}, "y": {Routers: 2}, "x": {Routers: 1}}, []string{"x", "y"}},
		{map[string]diagnose.Position{"z": {Routers: 2, Detour: 0.001}, "y": {Routers: 2, Detour: 0.002}}, []string{"z"}},
		{map[string]diagnose.Position{"a": {Routers: 1}, "b": {Routers: 2}, "c": {Routers: 3}, "d": {Routers: 4}, "e": {Routers: 5}, "f": {Routers: 6},
			"g": {Routers: 7}, "h": {Routers: 8}, "i": {Routers: 9}}, []string{"b", "e", "h"}},
	} {
		if diff := cmp.Diff(c.want, spread(c.places)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", fmt.Sprint(c.places), diff)
		}
	}
}

// forgetful is an archive that cannot read traces.
type forgetful struct{ archive.Archive }

func (f forgetful) Results(ctx context.Context, q archive.ResultQuery) (archive.ResultPage, error) {
	if q.Kind == "trace" {
		return archive.ResultPage{}, errors.New("disk on fire")
	}
	return f.Archive.Results(ctx, q)
}

// Where it cannot be read how a path is divided, what was measured of the whole of it stands, and says so.
func TestSegmentsThatCannotBeRead(t *testing.T) {
	b, _ := newPath(t, twoHosts+someTests)
	b.config.Archive = forgetful{b.archive}
	lines, err := b.diagnosis(t.Context(), DiagnosisRequest{Patience: time.Hour, Segments: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"the path is not divided into segments: read routes: disk on fire"}
	if d := lines[len(lines)-1].Diagnosis; d == nil || d.Verdict != "receive-window-limited" || d.Segments != nil || !slices.Equal(d.Notes, want) || len(b.filed()) != 1 {
		t.Errorf("%d are filed: %+v", len(b.filed()), d)
	}
}
