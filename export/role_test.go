package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// transfers are Results of one pair, tool and test in each role and way, newest last. Each has its number as its throughput.
func transfers() (all []*measure.Result) {
	for _, role := range []measure.Role{measure.RolePlanned, measure.RoleDemand,
		measure.DiagnosisRole("01J00000000000000000000000", "transfer"), measure.DiagnosisRole("01J00000000000000000000001", "transfer")} {
		for _, way := range []measure.Way{measure.Forward, measure.Reverse, measure.Both, ""} {
			n := len(all)
			r := ping(fmt.Sprint(n), noon.Add(time.Duration(n)*time.Second), map[measure.Metric]float64{measure.Throughput: float64(n)})
			r.Kind, r.Tool, r.Role, r.Way = "throughput", "bulk "+string(way), role, way
			all = append(all, r)
		}
	}
	return all
}

// shown is what a scrape or remote write says of throughput: labels to value.
type shown map[[4]string]float64 // role, source, tool, way

// byRole is what of all transfers is newest: a diagnosis makes no series of its own.
func byRole(all []*measure.Result) shown {
	want := shown{}
	for _, r := range all {
		source := "a"
		if r.Way == measure.Reverse {
			source = "b" // of the data
		}
		role := string(r.Role)
		if strings.HasPrefix(role, "diagnosis/") {
			role = "diagnosis/transfer"
		}
		want[[4]string{role, source, r.Tool, string(r.Way)}] = r.Metrics[measure.Throughput]
	}
	return want
}

// What was measured on demand or by a diagnosis is a series of its own, and leaves what is planned as it was.
func TestSeriesByRole(t *testing.T) {
	all := transfers()
	c := NewCollector(CollectorOptions{Now: (&clock{noon.Add(time.Minute)}).now})
	scraped, sent := shown{}, shown{}
	for _, r := range all {
		c.Observe(r)
		written, err := decode(request([]parcel{pack(r)}))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range written {
			l := map[string]string{}
			for _, pair := range s.Labels {
				l[pair[0]] = pair[1]
			}
			if l["__name__"] == prefix+string(measure.Throughput) {
				sent[[4]string{l["role"], l["source"], l["tool"], l["way"]}] = s.Value
			}
		}
	}
	streams, _ := c.snapshot()
	for s, l := range streams {
		for _, v := range l.values {
			scraped[[4]string{s.role, s.source, s.tool, string(l.way)}] = v.value
		}
	}
	want := byRole(all)
	if diff := cmp.Diff(want, scraped); diff != "" || len(want) != 12 {
		t.Errorf("a scrape shows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("remote write sends (-want +got):\n%s", diff)
	}
	promtool(t, page(t, c))
}

// Each form of writing Results out says of each why it was made and how its data went, behind what was there before.
func TestRowsByRole(t *testing.T) {
	all := transfers()
	old := ping("77", noon.Add(time.Hour), map[measure.Metric]float64{measure.Throughput: 77}) // of a schema that had no roles
	all = append(all, old)
	want := map[string][2]string{} // by value
	for _, r := range all {
		want[number(r.Metrics[measure.Throughput])] = [2]string{string(r.Way), string(r.Role)}
	}
	want["77"] = [2]string{"", "planned"}
	a := filled(t, all...)
	forms := maps.Clone(everyForm)
	forms["wide csv"] = func(ctx context.Context, w io.Writer, a archive.Archive) error {
		return WideCSV(ctx, w, a, archive.ResultQuery{})
	}
	for name, form := range forms {
		var out bytes.Buffer
		if err := form(t.Context(), &out, a); err != nil {
			t.Fatal(err)
		}
		got := map[string][2]string{}
		if name == "json lines" {
			for line := range strings.Lines(out.String()) {
				var r measure.Result
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(err)
				}
				got[number(r.Metrics[measure.Throughput])] = [2]string{string(r.Way), string(roleOf(&r))}
			}
		} else {
			rows, err := csv.NewReader(&out).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows[1:] {
				end := len(row)
				got[row[end-4]] = [2]string{row[end-3], row[end-2]}
			}
			end := len(rows[0])
			if diff := cmp.Diff([]string{"way", "role", "subject"}, rows[0][end-3:]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
