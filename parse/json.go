package parse

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ohler55/ojg/jp"

	"github.com/pathwise-net/pathwise/document"
)

// output is a text in which rules look, decoded when the first rule asks for it.
type output struct {
	text    string
	decoded bool
	json    any // the last document; nil: there is none
}

func newOutput(text string) *output { return &output{text: text[max(0, len(text)-MaxInput):]} }

type jsonFinder struct{ jp.Expr }

func (r Rule) compileJSON() (finder, error) {
	path, err := jp.ParseString(r.JSON)
	if err == nil {
		err = checkPath(path)
	}
	if err != nil {
		return nil, &RuleError{r.Metric, "json", r.JSON,
			err.Error() + "; give a JSON path such as $.end.sum_received.bits_per_second"}
	}
	return jsonFinder{path}, nil
}

// checkPath refuses paths that visit a part of a document more often than twice, and those that cannot name one value.
func checkPath(path jp.Expr) error {
	searches := 0
	for _, part := range path {
		switch p := part.(type) {
		case jp.Root, jp.At, jp.Bracket, jp.Child, jp.Nth, jp.Wildcard:
		case jp.Descent:
			searches++
		case *jp.Filter:
			searches++
			if inside := p.String()[len("[?"):]; strings.Contains(inside, "..") || strings.ContainsAny(inside, "[*") {
				return errors.New("a filter can compare only plain keys")
			}
		default:
			return fmt.Errorf("%T cannot name one value", part)
		}
	}
	if len(path) == 0 || searches > 1 {
		return errors.New("a path has one \"..\" or one filter at most")
	}
	return nil
}

func (f jsonFinder) String() string { return "json " + f.Expr.String() }

func (f jsonFinder) find(o *output) (number, unit string, err error) {
	all := f.Get(o.printed())
	if len(all) == 0 {
		return "", "", errNothing
	}
	if len(all) > 1 {
		return "", "", fmt.Errorf("%s names %d values; make it name one, such as the last by [-1]", f, len(all))
	}
	switch v := all[0].(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), "", nil
	case string:
		return v, "", nil
	}
	return "", "", fmt.Errorf("%s names a value that is no number", f)
}

// printed decodes the last JSON object or list that begins a line of the text.
func (o *output) printed() any {
	if o.decoded {
		return o.json
	}
	o.decoded = true
	for rest, tried := o.text, 0; tried < maxDecoding; {
		start := documentStart(rest)
		if start < 0 {
			break
		}
		rest = rest[start:]
		in := strings.NewReader(rest)
		decoder := json.NewDecoder(in)
		for {
			var text json.RawMessage
			var v any
			if decoder.Decode(&text) != nil || document.JSON(text, maxDecoding, &v) != nil {
				break
			}
			o.json = v
		}
		tried += len(rest) - in.Len()
		rest = nextLine(rest[decoder.InputOffset():]) // where a document follows what is none
	}
	return o.json
}

// documentStart returns where the first line begins that starts with an object or list; -1: there is none.
func documentStart(text string) int {
	for at := 0; at < len(text); {
		line := text[at:]
		if trimmed := strings.TrimLeft(line, " \t\r"); trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') {
			return at
		}
		rest := nextLine(line)
		at = len(text) - len(rest)
	}
	return -1
}

// nextLine returns what follows the first line of text.
func nextLine(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}
