package web

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
)

// Whoever comes from the public address reads, and does nothing else; a token of the mesh starts tests, and no more.
func TestScopes(t *testing.T) {
	b := newBench(t)
	token := []string{"Authorization", "Bearer " + b.token("alice")}
	for _, c := range []struct {
		listener     Listener
		method, path string
		want         int
		headers      []string
	}{
		{public, http.MethodGet, "/api/v1/pairs", http.StatusOK, nil},
		{public, http.MethodPost, "/api/v1/runs", http.StatusUnauthorized, nil},
		{public, http.MethodPost, "/api/v1/backup", http.StatusUnauthorized, nil},
		{public, http.MethodPost, "/api/v1/backup", http.StatusForbidden, token},
		{public, http.MethodPost, "/api/v1/results", http.StatusMethodNotAllowed, nil},
		{public, http.MethodPost, "/api/v1/events", http.StatusMethodNotAllowed, nil},
		{Listener{Secure: true}, http.MethodGet, "/api/v1/pairs", http.StatusUnauthorized, nil},
		{Listener{Secure: true}, http.MethodGet, "/api/v1/pairs", http.StatusOK, token},
		{Listener{Secure: true}, http.MethodGet, "/metrics", http.StatusUnauthorized, nil},
		{Listener{Secure: true}, http.MethodGet, "/api/v1/health", http.StatusOK, nil},
		{Listener{}, http.MethodGet, "/api/v1/pairs", http.StatusForbidden, token},
	} {
		b.serve(fromFar(b.Handler(c.listener)))
		b.expect(c.method, c.path, "{}", c.want, "", c.headers...)
	}
}

// operationsOf are the operations of a path, by method.
func operationsOf(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put,
		http.MethodPatch: item.Patch, http.MethodDelete: item.Delete}
	maps.DeleteFunc(all, func(_ string, o *huma.Operation) bool { return o == nil })
	return all
}

// No operation is without a scope, and none but of those that anybody may call answers to who has shown nothing.
func TestEveryOperationHasItsScope(t *testing.T) {
	b := newBench(t)
	api := b.api(http.NewServeMux())
	b.operations(api)
	b.serve(b.Handler(Listener{Secure: true}))
	operations := 0
	for path, item := range api.OpenAPI().Paths {
		for method, o := range operationsOf(item) {
			operations++
			needs, named := o.Metadata[scopeKey].(account.Scope)
			if !named {
				t.Errorf("%s %s names no scope", method, path)
			}
			for _, always := range []string{"401", "403", "429", "500", "503"} {
				if o.Responses[always] == nil {
					t.Errorf("%s %s does not declare %s", method, path, always)
				}
			}
			if needs != scopeNone {
				b.expect(method, strings.NewReplacer("{", "", "}", "").Replace(path), "{}", http.StatusUnauthorized, "or a token")
			}
		}
	}
	if operations < 12 {
		t.Errorf("%d operations were looked at", operations)
	}
}
