package diagnose

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/document"
)

// Faults in each of three segments of a path in the lab, as TestDiagnoseSegments of cmd/pathwise recorded them: the number at the end of a
// file's name is the segment's that has the fault. What a policer lets through may look like a narrow link.
func TestSegmentsReplayed(t *testing.T) {
	files, err := filepath.Glob("testdata/segments/*.json.gz")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, file := range files {
		var d Diagnosis
		if err := document.ReadPacked(file, MostBytes, &d); err != nil {
			t.Fatal(err)
		}
		points := []Stretch{}
		for _, p := range d.Segments.Points {
			one := Stretch{From: "here", To: p.Name}
			for _, r := range d.Segments.Results {
				if r.Target.Name == p.Name {
					one.Results = append(one.Results, r)
				}
			}
			points = append(points, one)
		}
		got := JudgePrefixes(Diagnose(d.Results), nil, "here", "carol", points)
		name := strings.TrimSuffix(filepath.Base(file), ".json.gz")
		want := []string{"none", "here - p1", "p1 - p2", "p2 - carol"}[name[len(name)-1]-'0']
		switch {
		case got.Verdict == BlameOne && slices.Equal(got.Blamed, []string{want}):
		case got.Verdict == BlameNone && (want == "none" || strings.HasPrefix(name, "policer") && got.Narrowest == want):
		default:
			t.Errorf("%s: %s %q: %s", name, got.Verdict, got.Blamed, got.Says)
		}
		if s := got.Segments; len(s) != 3 || s[0].RTTSeconds == nil || *s[0].RTTSeconds > 0.006 || *s[1].RTTSeconds < 0.015 || *s[2].RTTSeconds < 0.013 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
