package web

import (
	"errors"

	"github.com/danielgtaylor/huma/v2"
)

// What a body of JSON may hold. A decoder makes some hundred bytes of what takes two in a text, and calls itself for each level.
const (
	// maxDepth is how deep arrays and objects stand in one another: the files of a mesh, a run's parameters are three.
	maxDepth = 16
	// maxValues is how many values there are: of 64 files of a mesh with their names, some hundred.
	maxValues = 5000
)

var errJSON = errors.New("want JSON of at most 16 levels and 5000 values")

// boundedJSON reads JSON as huma does, after a look at its depth and at how much is in it.
var boundedJSON = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(text []byte, v any) error {
		if !bounded(text) {
			return errJSON
		}
		return huma.DefaultJSONFormat.Unmarshal(text, v)
	},
}

// bounded says whether a text, if it is JSON, keeps to the limits above. It keeps nothing of it.
func bounded(text []byte) bool {
	depth, values, quoted := 0, 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++ // what follows is no end
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			values++
		case c == ']' || c == '}':
			depth--
		case c == ',':
			values++
		}
		if depth > maxDepth || values > maxValues {
			return false
		}
	}
	return true
}
