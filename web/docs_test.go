package web

import (
	"cmp"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/account"
)

// docs/api.md lists every operation with what it needs, and no other.
func TestDocsListEveryOperation(t *testing.T) {
	b := newBench(t)
	api := b.api(http.NewServeMux())
	b.operations(api)
	var want []string
	for path, item := range api.OpenAPI().Paths {
		for method, o := range operationsOf(item) {
			needs := o.Metadata[scopeKey].(account.Scope)
			want = append(want, "| `"+method+" "+path+"` | "+cmp.Or(string(needs), "nothing")+" | "+o.Summary+" |")
		}
	}
	slices.SortFunc(want, func(a, b string) int { // by path, then by method
		pathOf := func(s string) string { return strings.SplitN(s, " ", 4)[2] }
		return cmp.Or(cmp.Compare(pathOf(a), pathOf(b)), cmp.Compare(a, b))
	})
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "/api/v1") && strings.HasPrefix(line, "| `") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table of docs/api.md is to be:\n%s", strings.Join(want, "\n"))
	}
}
