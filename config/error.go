package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is one thing that is wrong with a mesh file: where, which value, and what would be right.
type Error struct {
	File         string
	Line, Column int    // from 1; 0: the fault has no one place
	Field        string // such as hosts.ucl.reach; "" for a fault of the whole file
	Value        string // as written; "" for what is missing
	Want         string // what would be right
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ":")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", e.Line, e.Column)
	}
	for _, part := range []string{e.Field, quoted(e.Value)} {
		if part != "" {
			b.WriteString(" " + part + ":")
		}
	}
	return strings.TrimSpace(b.String() + " want " + e.Want)
}

// BadInput marks the error as the caller's to mend.
func (e *Error) BadInput() bool { return true }

// Errors is everything that is wrong, by file and place. It has at least one element.
type Errors []*Error

// Error has a line for each.
func (all Errors) Error() string {
	var lines []string
	for _, e := range all {
		lines = append(lines, e.Error())
	}
	return strings.Join(lines, "\n")
}

// BadInput marks the errors as the caller's to mend.
func (all Errors) BadInput() bool { return true }

// Unwrap lets errors.As find each *Error.
func (all Errors) Unwrap() []error {
	var each []error
	for _, e := range all {
		each = append(each, e)
	}
	return each
}

func (all Errors) sort() {
	slices.SortStableFunc(all, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// maxQuoted keeps an error on a line that a terminal shows.
const maxQuoted = 80

// quoted is the value as an error shows it.
func quoted(value string) string {
	if value == "" {
		return ""
	}
	if len(value) > maxQuoted {
		value = strings.ToValidUTF8(value[:maxQuoted], "") + "…"
	}
	return strconv.Quote(value)
}
