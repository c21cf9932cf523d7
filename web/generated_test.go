package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/pathwise-net/pathwise/account"
)

// published is the API's document as a client gets it.
func (b *bench) published() map[string]any {
	b.t.Helper()
	_, text, _ := b.ask(http.MethodGet, "/api/v1/openapi.json", "")
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		b.t.Fatal(err)
	}
	return doc
}

// The document about the API is one of OpenAPI 3.1, by the schema that its authors publish.
func TestDocumentIsValid(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	const id = "https://spec.openapis.org/oas/3.1/schema/2022-10-07"
	text, err := os.ReadFile("testdata/openapi/schema-3.1.json")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(id, schema); err != nil {
		t.Fatal(err)
	}
	valid, err := c.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	doc := b.published()
	if err := valid.Validate(doc); err != nil {
		t.Errorf("%#v", err)
	}
	delete(doc, "info")
	if valid.Validate(doc) == nil {
		t.Error("a document without info counts as valid")
	}
}

// generatedCalls is how many calls TestGeneratedCalls makes: what issue trackers of APIs see in a day of a bad client.
const generatedCalls = 5000

// Whatever is asked, right, nearly right or wild, by whoever, the answer is one that the document declares, of a form that it
// declares, and no failure of the server.
func TestGeneratedCalls(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.filed()
	b.editing()
	close(b.hub.held)
	b.run()
	b.Log = slog.New(slog.DiscardHandler)
	scopes := []account.Scope{account.Read, account.Run, account.Admin}
	token, err := b.Accounts.NewToken(account.Actor{Identity: account.Owner()}, account.TokenSpec{Name: "all", Scopes: scopes})
	if err != nil {
		t.Fatal(err)
	}
	b.serve(b.Handler(owner))
	own := b.url
	b.serve(b.Handler(Listener{Public: anybody, Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}))
	caller := &wildCaller{bench: b, rand: rand.New(rand.NewPCG(5, 3100)), doc: b.published(), schemas: jsonschema.NewCompiler(), seen: map[int]int{}}
	if err := caller.schemas.AddResource("openapi.json", caller.doc); err != nil {
		t.Fatal(err)
	}
	open := b.url
	operations := caller.operations()
	for n, made := 0, 0; made < generatedCalls; n++ {
		o := operations[n%len(operations)]
		if strings.Contains(o.id, "sign-in") || strings.Contains(o.id, "take-up") || strings.Contains(o.id, "password") {
			if n/len(operations)%20 != 0 { // each takes the memory and the time that guessing is to take
				continue
			}
		}
		headers := map[string]string{"X-Forwarded-Proto": "https", "X-Forwarded-For": fmt.Sprintf("198.18.%d.%d", n/250%250, n%250)}
		if made%10 == 0 { // where others can listen in
			headers["X-Forwarded-Proto"] = "http"
		}
		b.url = open
		switch n / len(operations) % 4 {
		case 0:
			b.url, headers = own, map[string]string{}
		case 1, 2:
			headers["Authorization"] = "Bearer " + token
		}
		caller.call(o, headers)
		made++
		if t.Failed() && n > 500 {
			break
		}
	}
	t.Logf("%d operations; answers by status: %v", len(operations), caller.seen)
	for _, status := range []int{200, 204, 401, 404, 422} {
		if caller.seen[status] == 0 {
			t.Errorf("no call was answered with %d", status)
		}
	}
}

// calledOperation is a line of the published table.
type calledOperation struct {
	id, method, path string
	item             map[string]any
}

// wildCaller makes calls from what a document says.
type wildCaller struct {
	*bench
	rand    *rand.Rand
	doc     map[string]any
	schemas *jsonschema.Compiler
	seen    map[int]int // answers by status
}

func (w *wildCaller) operations() (all []calledOperation) {
	paths := w.doc["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := paths[path].(map[string]any)
		for _, method := range slices.Sorted(maps.Keys(item)) {
			o := item[method].(map[string]any)
			all = append(all, calledOperation{o["operationId"].(string), strings.ToUpper(method), path, o})
		}
	}
	return all
}

// call makes one call of an operation, and holds the answer against the document.
func (w *wildCaller) call(o calledOperation, headers map[string]string) {
	w.t.Helper()
	path, query := o.path, url.Values{}
	parameters, _ := o.item["parameters"].([]any)
	for _, p := range parameters {
		p := p.(map[string]any)
		required, _ := p["required"].(bool)
		if !required && w.rand.IntN(3) > 0 {
			continue
		}
		text := w.text(w.value(p["schema"].(map[string]any), 0))
		switch name := p["name"].(string); p["in"] {
		case "path":
			if text == "" || text == "." || text == ".." { // is another path
				text = "a"
			}
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(text))
		case "query":
			query.Set(name, text)
		}
	}
	if w.rand.IntN(30) == 0 {
		query.Set("unheard_of", "1")
	}
	var body io.Reader
	sent := ""
	if content, has := o.item["requestBody"].(map[string]any); has {
		schema := content["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any)
		sent = w.body(schema)
		if o.id == "backup" { // the document's own example may be somebody's
			sent = strings.ReplaceAll(sent, "/var/backups", w.folder)
		}
		body = strings.NewReader(sent)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, o.method, w.url+path+"?"+query.Encode(), body)
	if err != nil {
		w.t.Fatal(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		w.t.Errorf("%s %s %s: %v", o.method, request.URL, sent, err)
		return
	}
	defer answer.Body.Close()
	w.seen[answer.StatusCode]++
	if err := w.declared(o, answer); err != nil {
		w.t.Errorf("%s %s %.300s: %s: %v", o.method, request.URL, sent, answer.Status, err)
	}
}

// body is a document of a schema; some are cut off, of another kind, or not there.
func (w *wildCaller) body(schema map[string]any) string {
	text, err := json.Marshal(w.value(schema, 0))
	if err != nil {
		w.t.Fatal(err)
	}
	switch w.rand.IntN(25) {
	case 0:
		return string(text[:w.rand.IntN(len(text)+1)])
	case 1:
		return ""
	case 2:
		return "[" + string(text) + "]"
	case 3:
		return strings.Repeat("[", 10_000)
	}
	return string(text)
}

// declared tells how an answer departs from what the document says of its operation.
func (w *wildCaller) declared(o calledOperation, answer *http.Response) error {
	if answer.StatusCode >= 500 {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return fmt.Errorf("a failure: %s", text)
	}
	responses := o.item["responses"].(map[string]any)
	status := strconv.Itoa(answer.StatusCode)
	response, has := responses[status].(map[string]any)
	if !has {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
		return fmt.Errorf("not declared: %s", text)
	}
	content, _ := response["content"].(map[string]any)
	if len(content) == 0 {
		if text, _ := io.ReadAll(answer.Body); len(text) > 0 {
			return fmt.Errorf("an answer without content has %q", text)
		}
		return nil
	}
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if _, has := content[kind]; !has || err != nil {
		return fmt.Errorf("content of an undeclared type %q", kind)
	}
	if kind != "application/json" && kind != "application/problem+json" {
		return nil // lines or text, of which some have no end
	}
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w: %.300s", err, text)
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1").Replace
	at := fmt.Sprintf("openapi.json#/paths/%s/%s/responses/%s/content/%s/schema", escape(o.path), strings.ToLower(o.method), status, escape(kind))
	schema, err := w.schemas.Compile(strings.NewReplacer("{", "%7B", "}", "%7D", "+", "%2B").Replace(at))
	if err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("not of the declared form: %w: %.300s", err, text)
	}
	return nil
}
