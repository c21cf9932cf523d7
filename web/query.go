package web

import (
	"errors"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/quantity"
)

// moment is a time in a URL.
type moment struct{ quantity.Moment }

// UnmarshalText reads a moment.
func (m *moment) UnmarshalText(text []byte) (err error) {
	m.Moment, err = quantity.ParseMoment(string(text))
	return err
}

// Schema says how a moment is written, for the documentation of the API.
func (moment) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Description: "RFC 3339, or how long ago", Examples: []any{"2026-11-20T10:00:00Z", "-2h"}}
}

// length is a duration in a URL.
type length struct{ time.Duration }

// UnmarshalText reads a length.
func (l *length) UnmarshalText(text []byte) (err error) {
	if l.Duration, err = quantity.ParseSpan(string(text)); err != nil {
		return errors.New("want a time such as 5m")
	}
	return nil
}

// Schema says how a length is written, for the documentation of the API.
func (length) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Description: "a duration", Examples: []any{"5m", "1h", "7d"}}
}

// Span is the part of the past that a request is about.
type Span struct {
	From moment `query:"from" doc:"The beginning"`
	To   moment `query:"to" doc:"The end, itself not in it"`
}

// spanUntil is a span that was asked for, which ends by now. Where no end is given it ends now, and where no beginning is, it is as long as is usual.
func spanUntil(from, to moment, now time.Time, usual time.Duration) (begin, end time.Time) {
	end = to.At(now)
	if to.IsZero() || end.After(now) {
		end = now
	}
	begin = from.At(now)
	if from.IsZero() {
		begin = end.Add(-usual)
	}
	return begin, end
}

// PlannedRole selects by why something was measured.
type PlannedRole struct {
	Role string `query:"role" default:"planned" doc:"Why it was measured, as a pattern: planned, demand, diagnosis/STEP, or * for whatever reason"`
}

// OfSubject selects by what a Result is of beside its pair.
type OfSubject struct {
	Subject string `query:"subject" doc:"What it is of beside the pair, KIND/NAME as a pattern such as interface/*: an interface, flow, class, hop or device. What is of none, where none is given; * for all"`
}

// Which selects by what a run was. Each is a pattern, such as uk-*.
type Which struct {
	Source string `query:"source" doc:"Names of hosts, as a pattern such as uk-*"`
	Target string `query:"target" doc:"Names of hosts, as a pattern"`
	Test   string `query:"test" doc:"Names of tests, as a pattern"`
	Tool   string `query:"tool" doc:"Names of tools, as a pattern"`
}
