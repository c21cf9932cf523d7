package measure

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// declared are the metrics that this package has a name for.
func declared(t *testing.T) (all []Metric) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, is := n.(*ast.ValueSpec); is && fmt.Sprint(spec.Type) == "Metric" && len(spec.Values) == 1 {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, Metric(text))
			}
			return true
		})
	}
	return all
}

// Every metric that has a name in the code has one definition, and each definition is whole.
func TestDefinitions(t *testing.T) {
	seen := map[Metric]bool{}
	groups := []string{}
	for _, d := range Definitions() {
		if seen[d.Metric] {
			t.Errorf("%s stands twice", d.Metric)
		}
		seen[d.Metric] = true
		if !slices.Contains(groups, d.Group) {
			groups = append(groups, d.Group)
		}
		limits := d.Warn == 0 && d.Bad == 0 || d.Better == BetterLow && 0 < d.Warn && d.Warn < d.Bad || d.Better == BetterHigh && d.Warn > d.Bad && d.Bad > 0
		if d.Metric.Unit() == "" || d.Label == "" || d.Group == "" || !strings.HasSuffix(d.Help, ".") || !strings.HasSuffix(d.Text, ".") || len(d.See) == 0 || !limits {
			t.Errorf("not whole: %+v", d)
		}
		if (d.Draw == DrawSmoke) != (d.Loss != "") || d.Draw == DrawSmoke && !strings.Contains(string(d.Metric), "_median_") {
			t.Errorf("%s cannot be drawn as %q above %q", d.Metric, d.Draw, d.Loss)
		}
	}
	if diff := cmp.Diff([]string{"Delay", "Variation", "Speech", "Loss and order", "Availability", "Multicast", "Transfer", "Transactions", "Path", "Diagnosis", "Host"}, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	for _, m := range declared(t) {
		if !seen[m] && len(m.Sampled()) == 0 {
			t.Errorf("%s is in none of the lists", m)
		}
	}
}

var update = flag.Bool("update", false, "write docs/metrics.md anew")

// docs/metrics.md is made of the definitions: go test ./measure -run TestMetricsPage -update writes it.
func TestMetricsPage(t *testing.T) {
	const path = "../docs/metrics.md"
	want := metricsPage()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the page is not what the definitions say; -update writes it anew (-want +got):\n%s", diff)
	}
}

const pageHead = `# Metrics

All that Pathwise measures. The name ends in the unit; ` + "`pathwise explain NAME`" + ` tells more of each, and exports have it as
` + "`pathwise_NAME`" + ` with this meaning. A tool of the site adds what its parser names.

Better says whether low or high values are to be wished for. Merged says what one number stands for many runs: their median,
the mean of shares of time, the sum of what happened so often, the maximum of what is the longest or largest, one sum of counts by another, or a quantile of the samples of all runs, whose distribution a Result has
under this name in ` + "`distributions`" + ` (of runs without one, the median). At warn and bad the pages colour a value, where a
mesh does not judge it by its own past.
`

func metricsPage() string {
	var b strings.Builder
	b.WriteString(pageHead)
	group := ""
	for _, d := range Definitions() {
		if d.Group != group {
			group = d.Group
			fmt.Fprintf(&b, "\n## %s\n\n| name | called | meaning | better | merged | warn | bad |\n|---|---|---|---|---|---|---|\n", group)
		}
		merged := map[MergeHow]string{MergeMedian: "median", MergeMean: "mean", MergeSum: "sum", MergeMax: "maximum"}[d.Metric.Merge().How]
		switch d.Merge.How {
		case MergeShare:
			merged = fmt.Sprintf("`%s` by `%s`", d.Merge.Over, d.Merge.Under)
		case MergeQuantile:
			merged = fmt.Sprintf("quantile %g of `%s`", d.Merge.Quantile, d.Merge.Distribution)
		case MergeSampleMean:
			merged = fmt.Sprintf("mean of `%s`", d.Merge.Distribution)
		}
		limits := " | "
		if d.Warn != 0 {
			limits = fmt.Sprintf("%g | %g", d.Warn, d.Bad)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", d.Metric, d.Label, d.Help, d.Better, merged, limits)
	}
	return b.String()
}
