package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// names are what a caller may mean, or may not.
var names = []string{"a", "b", "gone", "strict", "rtt", "rtt@all", "ping", "trace", "throughput", "rtt_median_seconds", "loss_ratio", "all",
	firstID, noID, "-1h", "-7d", "5m", "1h", "2026-11-22T00:00:00Z", "2026-11-20T10:00:00.5+01:00", "read", "admin", "correct horse battery"}

// oddities are what no caller means, and some send.
var oddities = []string{"", " ", "../../../etc/passwd", "..\\..", "%2e%2e%2f", "<script>alert(1)</script>", "'; DROP TABLE result; --", "\x00", "a\x00b",
	"\n", "é😀\u202e", "*", "[", "a,b", "-1", "0", "1e999", "NaN", "-Inf", "99999999999999999999", "1ns", "300000h", "-300000d", "null", "true",
	"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-13-45T00:00:00Z", strings.Repeat("x", 5000), strings.Repeat("é", 300)}

// value is one that a schema allows, most of the time.
func (w *wildCaller) value(schema map[string]any, depth int) any {
	if ref, is := schema["$ref"].(string); is {
		return w.value(w.resolve(ref), depth)
	}
	if w.rand.IntN(12) == 0 {
		return w.odd()
	}
	for _, of := range []string{"oneOf", "anyOf"} {
		if ways, is := schema[of].([]any); is {
			return w.value(ways[w.rand.IntN(len(ways))].(map[string]any), depth)
		}
	}
	if enum, is := schema["enum"].([]any); is && len(enum) > 0 {
		return enum[w.rand.IntN(len(enum))]
	}
	kind := schema["type"]
	if kinds, several := kind.([]any); several {
		kind = kinds[w.rand.IntN(len(kinds))]
	}
	switch kind {
	case "string":
		return w.word(schema)
	case "integer", "number":
		return w.number(schema, kind == "integer")
	case "boolean":
		return w.rand.IntN(2) == 0
	case "array":
		list := []any{}
		items, _ := schema["items"].(map[string]any)
		for range w.rand.IntN(4) {
			if depth < 6 {
				list = append(list, w.value(items, depth+1))
			}
		}
		return list
	case "object":
		return w.object(schema, depth)
	}
	return nil
}

func (w *wildCaller) resolve(ref string) map[string]any {
	at := any(w.doc)
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(map[string]any)[part]
	}
	return at.(map[string]any)
}

func (w *wildCaller) word(schema map[string]any) string {
	if examples, is := schema["examples"].([]any); is && w.rand.IntN(2) == 0 {
		return w.text(examples[w.rand.IntN(len(examples))])
	}
	if schema["format"] == "date-time" && w.rand.IntN(4) > 0 {
		return "2026-11-22T00:00:00Z"
	}
	if w.rand.IntN(6) == 0 {
		return oddities[w.rand.IntN(len(oddities))]
	}
	return names[w.rand.IntN(len(names))]
}

func (w *wildCaller) number(schema map[string]any, whole bool) any {
	low, has := schema["minimum"].(float64)
	if !has {
		low = -10
	}
	high, has := schema["maximum"].(float64)
	if !has {
		high = low + 1000
	}
	x := low + w.rand.Float64()*(min(high, low+3)-low) // what is to be waited for is not long
	switch w.rand.IntN(8) {
	case 0:
		x = low
	case 1:
		x = low - 1
	case 2:
		x = high + 1
	}
	if whole {
		return int64(x)
	}
	return x
}

func (w *wildCaller) object(schema map[string]any, depth int) map[string]any {
	o := map[string]any{}
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) { // in order, so that a seed gives the same calls
		needed := slices.Contains(required, any(name))
		if name == "$schema" || !needed && w.rand.IntN(2) == 0 || needed && w.rand.IntN(20) == 0 || depth > 6 {
			continue
		}
		o[name] = w.value(properties[name].(map[string]any), depth+1)
	}
	more, _ := schema["additionalProperties"].(map[string]any)
	open, _ := schema["additionalProperties"].(bool)
	if (more != nil || open || w.rand.IntN(20) == 0) && depth < 6 {
		for range w.rand.IntN(3) {
			o[names[w.rand.IntN(len(names))]] = w.odd()
		}
	}
	return o
}

// odd is a value of any kind.
func (w *wildCaller) odd() any {
	switch w.rand.IntN(7) {
	case 0:
		return nil
	case 1:
		return w.rand.Float64() * 1e300
	case 2:
		return -w.rand.Int64()
	case 3:
		return []any{map[string]any{"a": []any{}}}
	case 4:
		return map[string]any{"": "b"}
	}
	return oddities[w.rand.IntN(len(oddities))]
}

// text is a value as it stands in a URL.
func (w *wildCaller) text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var words []string
		for _, x := range v {
			words = append(words, w.text(x))
		}
		return strings.Join(words, ",")
	case map[string]any:
		text, _ := json.Marshal(v) // which has nothing that cannot be written
		return string(text)
	}
	return fmt.Sprint(v)
}
