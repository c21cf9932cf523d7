package document

import (
	"encoding/json"
	"errors"
	"io"
)

// JSON is json.Unmarshal of a text of at most so many bytes that is not deeper than MaxDepth; otherwise it returns an *Error.
func JSON(text []byte, most int, into any) error {
	if err := CheckJSON(text, most); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// CheckJSON returns an *Error for a text beyond these bounds. It does not say whether the text is JSON.
func CheckJSON(text []byte, most int) error {
	if len(text) > most {
		return tooLarge(most)
	}
	if !shallow(text) {
		return tooDeep()
	}
	return nil
}

// shallow says whether no bracket lies deeper than MaxDepth. Brackets in strings do not count.
func shallow(text []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[', c == '{':
			if depth++; depth > MaxDepth {
				return false
			}
		case c == ']', c == '}':
			depth--
		}
	}
	return true
}

// ReadJSON reads all that r has, and decodes it as JSON does.
func ReadJSON(r io.Reader, most int, into any) error {
	text, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err != nil {
		return err
	}
	return JSON(text, most, into)
}

// A Stream reads JSON documents that follow one another.
type Stream struct {
	decoder *json.Decoder
	in      rationed
	most    int
}

// NewStream returns a Stream of documents of at most so many bytes each.
func NewStream(r io.Reader, most int) *Stream {
	s := &Stream{most: most}
	s.in.from = r
	s.decoder = json.NewDecoder(&s.in)
	return s
}

// Next decodes the next document as JSON does. It returns io.EOF after the last; after any other error the Stream is of no
// more use.
func (s *Stream) Next(into any) error {
	s.in.left = s.most
	var text json.RawMessage
	if err := s.decoder.Decode(&text); errors.Is(err, errRation) {
		return tooLarge(s.most)
	} else if err != nil {
		return err
	}
	return JSON(text, s.most, into)
}

// rationed hands out what is left of a ration, and fails beyond it.
type rationed struct {
	from io.Reader
	left int
}

var errRation = errors.New("ration used up")

func (r *rationed) Read(b []byte) (int, error) {
	if r.left <= 0 {
		return 0, errRation
	}
	n, err := r.from.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}
