package edit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
)

// History returns the versions that are kept, newest first.
func (b *Book) History() []Version {
	b.mu.RLock()
	defer b.mu.RUnlock()
	all := append([]Version{}, b.history.versions...)
	slices.Reverse(all)
	return all
}

// Changes returns the versions of a span, oldest first; a zero time does not bound it.
func (b *Book) Changes(from, to time.Time) ([]Version, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	all := []Version{}
	for _, v := range b.history.versions {
		if !v.At.Before(from) && (to.IsZero() || v.At.Before(to)) {
			all = append(all, v)
		}
	}
	return all, nil
}

// Past is a version, whole.
type Past struct {
	Version
	Files []File `json:"files"`
	Diff  string `json:"diff" doc:"What it changed: unified, from the version before"`
}

// Version returns a version with its text, and what it changed; ErrUnknown if it is not kept.
func (b *Book) Version(id string) (Past, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	at := slices.IndexFunc(b.history.versions, func(v Version) bool { return v.ID == id })
	if at < 0 {
		return Past{}, ErrUnknown
	}
	v, files, err := b.history.open(id, true)
	if err != nil {
		return Past{}, fmt.Errorf("this version is damaged: %w", plain(id, err))
	}
	past := Past{Version: v, Files: files}
	if at > 0 {
		if _, before, err := b.history.open(b.history.versions[at-1].ID, true); err == nil { // else there is nothing to compare with
			past.Diff = diffOf(before, files)
		}
	}
	return past, nil
}

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
