package chart

import "testing"

func TestFold(t *testing.T) {
	if got, want := Fold("a paragraph  of\nfive words", "  ", 14), "  a paragraph\n  of five\n  words"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
