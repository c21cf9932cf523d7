package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/document"
)

// A body that is deeper than any that makes sense is refused before it is decoded, wherever one is taken.
func TestDeepBodies(t *testing.T) {
	b := newBench(t)
	b.run()
	b.serve(b.Handler(owner))
	deep := strings.Repeat("[", document.MaxDepth+1) + strings.Repeat("]", document.MaxDepth+1)
	bodies := map[string]string{
		"deep": deep, "in a field": `{"name": ` + deep + `}`, "never closed": strings.Repeat(`{"a":[`, 5000),
	}
	tried := 0
	b.eachBody(func(method, path string) {
		tried++
		for name, body := range bodies {
			t.Run(path+" "+name, func(t *testing.T) {
				b := *b
				b.t = t
				b.expect(method, path, body, http.StatusBadRequest, "nested too deep")
			})
		}
	})
	if tried < 8 {
		t.Errorf("%d operations take a body", tried)
	}
}
