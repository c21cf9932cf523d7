package web

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// sayNull adds to the schemas which of their fields that hold an object may be null, which huma leaves out: pointers that are
// written even if they are nil.
func sayNull(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		t := schemas.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(t) {
			key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			known := schema.Properties[key]
			if known == nil || known.Ref == "" || field.Type.Kind() != reflect.Pointer || strings.Contains(options, "omit") {
				continue
			}
			schema.Properties[key] = &huma.Schema{Description: known.Description,
				AnyOf: []*huma.Schema{{Ref: known.Ref}, {Type: "null"}}}
		}
	}
}
