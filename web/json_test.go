package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A body that is deeper or has more in it than any that makes sense is refused before it is decoded, wherever one is taken.
func TestDeepAndWideBodies(t *testing.T) {
	b := newBench(t)
	b.run()
	b.serve(b.Handler(owner))
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	bodies := map[string]string{
		"deep": deep, "in a field": `{"name": ` + deep + `}`, "never closed": strings.Repeat(`{"a":[`, 5000),
		"wide": "[" + strings.Repeat("0,", maxValues) + "0]", "many fields": "{" + strings.Repeat(`"a":0,`, maxValues) + `"a":0}`,
	}
	tried := 0
	b.eachBody(func(method, path string) {
		tried++
		for name, body := range bodies {
			t.Run(path+" "+name, func(t *testing.T) {
				b := *b
				b.t = t
				b.expect(method, path, body, http.StatusBadRequest, errJSON.Error())
			})
		}
	})
	if tried < 8 {
		t.Errorf("%d operations take a body", tried)
	}
}

// What is let through has no more levels and values than the limits, as encoding/json counts them; what keeps to them is let through.
func FuzzBounded(f *testing.F) {
	for _, text := range []string{`{"a": [1, "\"[[,", {}]}`, strings.Repeat("[", 99), `"\\"`, `["]", "["]`, `[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		depth, deepest, values := 0, 0, 0
		for d := json.NewDecoder(bytes.NewReader(text)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return // no JSON
			}
			switch token {
			case json.Delim('['), json.Delim('{'):
				depth++
				deepest = max(deepest, depth)
			case json.Delim(']'), json.Delim('}'):
				depth--
				continue
			}
			values++ // keys, too
		}
		ok := bounded(text)
		if ok && (deepest > maxDepth || values > 3*maxValues) {
			t.Errorf("%q is let through: %d levels, %d values", text, deepest, values)
		}
		if !ok && deepest <= maxDepth && values <= maxValues/2 {
			t.Errorf("%q is refused: %d levels, %d values", text, deepest, values)
		}
	})
}
