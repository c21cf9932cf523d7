package measure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Subject is what a Result is of beside its source and target: one interface of a host, one flow of a capture, one class of traffic,
// one hop of a route, one device. Results of two subjects of one pair are two series.
type Subject struct {
	Kind SubjectKind `json:"kind"`
	Name string      `json:"name"` // among those of its kind, such as eth0
}

// SubjectKind says what a Subject is.
type SubjectKind string

// Kinds of Subject.
const (
	SubjectInterface SubjectKind = "interface"
	SubjectFlow      SubjectKind = "flow"
	SubjectClass     SubjectKind = "class"
	SubjectHop       SubjectKind = "hop"
	SubjectDevice    SubjectKind = "device"
)

var subjectKinds = []SubjectKind{SubjectInterface, SubjectFlow, SubjectClass, SubjectHop, SubjectDevice}

// longestSubject is room for the addresses and ports of a flow of IPv6, and for names of people.
const longestSubject = 200

// String is the subject in one text, KIND/NAME; "" of nil. No kind has a "/" in it, so two subjects never have the same.
func (s *Subject) String() string {
	if s == nil {
		return ""
	}
	return string(s.Kind) + "/" + s.Name
}

// Validate says what is wrong with a subject.
func (s *Subject) Validate() error {
	if !slices.Contains(subjectKinds, s.Kind) {
		return fmt.Errorf("subject kind is %.40q, want interface, flow, class, hop or device", s.Kind)
	}
	unfit := func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }
	if s.Name == "" || len(s.Name) > longestSubject || strings.ContainsFunc(s.Name, unfit) {
		return fmt.Errorf("subject name is %.40q, want 1 to %d bytes without control characters", s.Name, longestSubject)
	}
	return nil
}

// UnmarshalJSON reads a subject from outside, and refuses one that is not as Validate wants it.
func (s *Subject) UnmarshalJSON(text []byte) error {
	type subject Subject // has no methods
	if err := json.Unmarshal(text, (*subject)(s)); err != nil {
		return fmt.Errorf("read subject: %w", err)
	}
	return s.Validate()
}
