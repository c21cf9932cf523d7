package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// Who may look is told until when the past is made up; a mesh's own test of such a name makes up nothing.
func TestGeneratedPastIsTold(t *testing.T) {
	b := newBench(t)
	at := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	file := func(id, test string) {
		r := resultOf(id, at)
		r.Test = test
		if err := b.Archive.Put(t.Context(), []*measure.Result{r}); err != nil {
			t.Fatal(err)
		}
	}
	file(firstID, "generated-load")
	b.serve(b.Handler(public))
	if _, text, _ := b.ask(http.MethodGet, "/api/v1/me", ""); strings.Contains(text, "generated_until") {
		t.Errorf("of a mesh that measures: %s", text)
	}
	file("01KAG0000000000000000000AB", "generated ping")
	b.generated.next = time.Time{}
	for _, path := range []string{"/api/v1/me", "/api/v1/status"} {
		b.expect(http.MethodGet, path, "", http.StatusOK, `"generated_until":"`+at.Format(time.RFC3339)+`"`)
	}
	b.serve(b.Handler(Listener{Secure: true}))
	if _, text, _ := b.ask(http.MethodGet, "/api/v1/me", ""); strings.Contains(text, "generated_until") {
		t.Errorf("of who may not look: %s", text)
	}
}
