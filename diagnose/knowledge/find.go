package knowledge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// UnknownError is that no entry has a name.
type UnknownError struct {
	Name string
	Near []string // IDs that are like it, the likest first; it may be empty
}

func (e *UnknownError) Error() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("%q: no such entry; want a finding, a metric, a formula, a fault or a term", e.Name)
	}
	return fmt.Sprintf("%q: no such entry; want one such as %s", e.Name, strings.Join(e.Near, ", "))
}

// BadInput marks the error as the caller's to mend.
func (e *UnknownError) BadInput() bool { return true }

// Find returns the entry of an ID, or else of a title or another name; capitals, spaces and underscores make no difference. The error
// is an *UnknownError.
func Find(all []Entry, name string) (Entry, error) {
	wanted := fold(name)
	if i := slices.IndexFunc(all, func(e Entry) bool { return fold(e.ID) == wanted }); i >= 0 {
		return all[i], nil
	}
	if i := slices.IndexFunc(all, func(e Entry) bool { return slices.Contains(names(e), wanted) }); i >= 0 {
		return all[i], nil
	}
	return Entry{}, &UnknownError{name, near(all, wanted)}
}

// Search returns the entries that have all words of a text somewhere, in any order and as beginnings of words: first those that have them
// in their names, then those in what is said of them. It returns none where there are no words.
func Search(all []Entry, text string) (found []Entry) {
	words := strings.FieldsFunc(strings.ToLower(text), apart)
	if len(words) == 0 {
		return nil
	}
	var said []Entry
	for _, e := range all {
		named := strings.Join(append([]string{e.ID, e.Title}, e.Also...), " ")
		switch {
		case hasWords(named, words):
			found = append(found, e)
		case hasWords(named+" "+e.Text+" "+e.Shows+" "+e.Cure, words):
			said = append(said, e)
		}
	}
	return append(found, said...)
}

// apart says whether a letter stands between words.
func apart(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// hasWords says whether each of the words begins a word of a text.
func hasWords(text string, words []string) bool {
	written := strings.FieldsFunc(strings.ToLower(text), apart)
	for _, word := range words {
		if !slices.ContainsFunc(written, func(w string) bool { return strings.HasPrefix(w, word) }) {
			return false
		}
	}
	return true
}

// names are all that an entry is found by, folded and each once: its ID, its title, that without what stands in brackets at its end,
// and its other names.
func names(e Entry) []string {
	bare, _, _ := strings.Cut(e.Title, " (")
	var all []string
	for _, name := range append([]string{e.ID, e.Title, bare}, e.Also...) {
		if name = fold(name); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// fewNear is how many like names are told: more is no help.
const fewNear = 4

// near are the IDs that are like a name: those that contain it, then those that a few changes of letters lead to.
func near(all []Entry, wanted string) []string {
	type candidate struct {
		id  string
		far int
	}
	var found []candidate
	for _, e := range all {
		far := len(wanted)
		for _, name := range names(e) {
			far = min(far, levenshtein.ComputeDistance(name, wanted))
			if len(wanted) > 2 && strings.Contains(name, wanted) {
				far = 0
			}
		}
		if far <= max(1, len(wanted)/3) {
			found = append(found, candidate{e.ID, far})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.far, b.far), cmp.Compare(len(a.id), len(b.id)))
	})
	var ids []string
	for _, c := range found[:min(fewNear, len(found))] {
		ids = append(ids, c.id)
	}
	return ids
}

// Related returns the entries that one names, then those that name it, each once. Names that lead nowhere are left out.
func Related(all []Entry, of Entry) []Entry {
	var out []Entry
	add := func(e Entry) {
		if e.ID != of.ID && !slices.ContainsFunc(out, func(o Entry) bool { return o.ID == e.ID }) {
			out = append(out, e)
		}
	}
	for _, see := range of.See {
		if i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == see }); i >= 0 {
			add(all[i])
		}
	}
	for _, e := range all {
		if slices.Contains(e.See, of.ID) {
			add(e)
		}
	}
	return out
}
