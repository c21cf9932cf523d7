package edit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// maxDiff is how much of a diff anybody reads.
const maxDiff = 200_000

// diffOf is what changes two sets of files from one to the other, as a unified diff; "": nothing does.
func diffOf(from, to []File) string {
	var names []string
	for _, f := range slices.Concat(from, to) {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	var out strings.Builder
	for _, name := range slices.Compact(names) {
		before, was := textOf(from, name)
		after, is := textOf(to, name)
		text := diff.Diff(name, []byte(before), name, []byte(after))
		_, text, _ = bytes.Cut(text, []byte("\n")) // the command that it would be
		switch {
		case was && is:
		case is:
			out.WriteString("new file " + name + "\n")
		default:
			out.WriteString("removed file " + name + "\n")
		}
		out.Write(text)
	}
	text := out.String()
	if len(text) > maxDiff {
		text = text[:strings.LastIndexByte(text[:maxDiff], '\n')+1] + "… and more\n"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
