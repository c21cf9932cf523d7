package page

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// The pages have every metric of package measure, as it is defined there.
func TestMetricTable(t *testing.T) {
	w := ask("GET", "/"+tableName)
	text, found := strings.CutPrefix(w.Body.String(), "// Made of package measure.\nexport const table = ")
	var got []metricEntry
	if err := json.Unmarshal([]byte(strings.TrimSuffix(text, ";\n")), &got); err != nil || !found {
		t.Fatalf("%v: %.80s", err, w.Body)
	}
	var want []metricEntry
	for _, d := range measure.Definitions() {
		want = append(want, metricEntry{d.Metric, d.Label, d.Group, d.Better, d.Warn, d.Bad, d.Draw, d.Loss, d.Merge.Under})
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 60 {
		t.Errorf("%d metrics (-want +got):\n%s", len(got), diff)
	}
}
