package web

import (
	"context"
	"net/http"
	"path"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/web/page"
)

// thePages are packed once for all listeners.
var thePages = sync.OnceValue(page.Handler)

// Handler answers everything that callers of a listener may ask, describes it at /api/v1/openapi.json, and has the pages.
func (s *Server) Handler(l Listener) http.Handler {
	mux := http.NewServeMux()
	a := s.api(mux)
	a.UseMiddleware(s.requireScope)
	s.operations(a)
	sayNull(a.OpenAPI().Components.Schemas)
	if s.Metrics != nil {
		mux.Handle("GET /metrics", s.plainly(account.Read, s.Metrics))
	}
	mux.Handle("GET /", thePages())
	return guarded(l, s.known(l, tagged(mux)))
}

// api is an empty table of operations on a mux.
func (s *Server) api(mux *http.ServeMux) huma.API {
	config := huma.DefaultConfig("Pathwise", s.Version)
	config.Info.Description = "What a mesh of hosts measured, what it does now, and tests on demand. Units are SI: seconds, " +
		"bit/s, bytes, ratios from 0 to 1."
	config.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "/api/v1/openapi", "", ""
	config.CreateHooks = nil // links to schemas in each answer
	config.Transformers = append(config.Transformers, func(ctx huma.Context, _ string, v any) (any, error) {
		if problem, is := v.(*huma.ErrorModel); is {
			return s.veiled(ctx.Context(), ctx.Operation().OperationID, problem), nil
		}
		return v, nil
	})
	config.RejectUnknownQueryParameters = true
	config.Formats = map[string]huma.Format{"application/json": boundedJSON, "json": boundedJSON}
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token":   {Type: "http", Scheme: "bearer", Description: "a token of `pathwise mesh token`"},
		"session": {Type: "apiKey", In: "cookie", Name: sessionCookie, Description: "of who signed in"},
	}
	a := humago.New(mux, config)
	// Its JSON is one flat object of numbers and three words: see measure.TCPSample.MarshalJSON.
	config.Components.Schemas.RegisterTypeAlias(reflect.TypeFor[measure.TCPSample](), reflect.TypeFor[map[string]any]())
	return a
}

// schemaName names a type by its package, too: fleet and web both have a Status.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if from := path.Base(t.PkgPath()); t.Name() != "" && from != "web" && from != "v2" { // ours, and huma's
		name = strings.ToUpper(from[:1]) + from[1:] + name
	}
	return name
}

// operations is the table: what there is, and who may ask.
func (s *Server) operations(a huma.API) {
	add(a, get("health", scopeNone, "/health", "Whether the controller lives"), s.health)
	add(a, get("status", account.Read, "/status", "How the mesh is: its plan, hosts, archive, and what was missed"), s.status)
	add(a, get("hosts", account.Read, "/hosts", "Each host: whether it is there, what it runs, what it cannot do"), s.hosts)
	add(a, get("pairs", account.Read, "/pairs", "Who was measured to whom"), s.pairs)
	add(a, get("keys", account.Read, "/keys", "The series that there are"), s.keys)
	add(a, get("measured", account.Read, "/measured", "Which metrics there are, by tool and role, and of how many runs"), s.measured)
	add(a, get("series", account.Read, "/pairs/{source}/{target}/series",
		"The distribution of a metric over a span, step by step, and the gaps in it"), s.series)
	add(a, get("routes", account.Read, "/pairs/{source}/{target}/routes", "The routes from one host to another, and when each held"), s.routes)
	add(a, get("route-graph", account.Read, "/routes", "The routes of all pairs as one graph: hosts, routers, and how many pairs use each link"), s.routeGraph)
	add(a, get("compared", account.Read, "/pairs/{source}/{target}/tools",
		"The tools that measured the same between two hosts: figure, spread, distance from a reference, time and bytes of a run"), s.compared)
	add(a, get("history", account.Read, "/pairs/{source}/{target}/history",
		"What changed between two hosts: since when, from what to what, what changed with it"), s.history)
	add(a, get("changes", account.Read, "/changes",
		"What to mark on a time line: routes that changed, what diagnoses found, configurations"), s.changes)
	add(a, documented[matrixDoc](a, get("matrix", account.Read, "/matrix",
		"One metric between all hosts of the mesh, beside each pair's own past")), s.matrix)
	add(a, documented[summaryDoc](a, get("summary", account.Read, "/summary", "What is wrong in the mesh now: for whom, since when, and why")), s.summary)
	add(a, get("since", account.Read, "/since", "Since when pairs are beyond a limit"), s.since)
	add(a, get("result", account.Read, "/results/{id}", "One Result, whole"), s.result)
	add(a, get("result-names", account.Read, "/results/{id}/names", "What hosts and routers are called that answered a trace"), s.resultNames)
	add(a, get("result-route", account.Read, "/results/{id}/route", "What a route says, hop by hop and as a whole, as people read it"), s.resultRoute)
	add(a, stream(get("report", account.Read, "/results/{id}/report",
		"The problem report of a diagnosis, for those who run networks and hosts: one file"), "text/html", "text/markdown", "application/json"), s.report)
	add(a, get("misses", account.Read, "/misses", "Runs that did not take place, newest first"), s.misses)
	add(a, get("plan", account.Read, "/plan", "What is to run next, soonest first"), s.plan)
	add(a, pages[archive.ResultPage](a, get("results", account.Read, "/results",
		"Results, newest first: a page as JSON, or all as JSON lines or CSV")), s.results)
	add(a, stream(get("events", account.Read, "/events", "What happens, as it happens"), "text/event-stream"), s.events)
	s.tooling(a)
	s.calculating(a)
	s.explaining(a)
	s.signing(a)
	s.people(a)
	s.joining(a)
	s.laboratory(a)
	s.configuring(a)
	add(a, stream(post("run", account.Run, "/runs",
		"Measure now, or as soon as it disturbs nothing; the answer is a line for each thing that happens, the Result last"), jsonLines),
		s.startRun)
	add(a, stream(post("diagnose", account.Run, "/diagnoses",
		"Measure between two hosts what says why a path is slow; "+
			"the answer is a line for each thing that happens, the diagnosis last"), jsonLines), s.startDiagnosis)
	add(a, post("backup", scopeOwner, "/backup", "Write a backup of the controller to a new file on its machine"), s.backup)
	add(a, post("reparse", scopeOwner, "/reparse", "Read the kept output of programs again, by the rules of the mesh file as it is now"),
		s.reparse)
}

// add puts an operation into the table.
func add[I, O any](a huma.API, o huma.Operation, answer func(context.Context, *I) (*O, error)) {
	huma.Register(a, o, answer)
}

func get(id string, needs account.Scope, path, summary string) huma.Operation {
	return operation(http.MethodGet, id, needs, path, summary)
}

func post(id string, needs account.Scope, path, summary string) huma.Operation {
	o := operation(http.MethodPost, id, needs, path, summary)
	o.Errors = append(o.Errors, http.StatusBadRequest, http.StatusConflict, http.StatusGone, http.StatusRequestTimeout,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	return o
}

func operation(method, id string, needs account.Scope, route, summary string) huma.Operation {
	o := huma.Operation{
		OperationID: id, Method: method, Path: "/api/v1" + route, Summary: summary, MaxBodyBytes: maxBody,
		Metadata: map[string]any{scopeKey: needs},
		Errors: []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity,
			http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable},
	}
	if needs != scopeNone {
		o.Security = []map[string][]string{{"token": {}}, {"session": {}}}
	}
	return o
}

const (
	jsonLines   = "application/x-ndjson"
	openapiJSON = "application/openapi+json" // of the document about the API
)

// documented says that an operation, which writes its answer itself, answers with a T.
func documented[T any](a huma.API, o huma.Operation) huma.Operation {
	schema := a.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, "")
	o.Responses = map[string]*huma.Response{"200": {Description: "OK",
		Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}}
	return o
}

// stream says that an operation's answer is of a kind that has no schema.
func stream(o huma.Operation, kinds ...string) huma.Operation {
	content := map[string]*huma.MediaType{}
	for _, kind := range kinds {
		content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	o.Responses = map[string]*huma.Response{"200": {Description: "OK", Content: content}}
	return o
}
