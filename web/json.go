package web

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/document"
)

// boundedJSON reads a body as huma does, after a look at its depth; what an operation takes at most is bounded before.
var boundedJSON = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(text []byte, v any) error {
		if err := document.CheckJSON(text, maxConfig); err != nil {
			return err
		}
		return huma.DefaultJSONFormat.Unmarshal(text, v)
	},
}
