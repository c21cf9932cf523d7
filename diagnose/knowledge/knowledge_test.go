package knowledge

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/calc"
)

func ofKind(kind Kind) []string {
	var ids []string
	for _, e := range Entries() {
		if e.Kind == kind {
			ids = append(ids, e.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// Each entry is whole, stands once, and leads somewhere: to another of these, or to a fault, which package web checks.
func TestEntries(t *testing.T) {
	ids := map[string]bool{}
	for _, e := range Entries() {
		if ids[fold(e.ID)] {
			t.Errorf("%s stands twice", e.ID)
		}
		ids[fold(e.ID)] = true
	}
	for _, e := range Entries() {
		if e.Title == "" || !strings.HasSuffix(e.Text, ".") || len(e.See) == 0 || e.Kind == Finding && (e.Shows == "" || e.Cure == "" || e.When == "" || e.Short == "") {
			t.Errorf("%s is not whole: %+v", e.ID, e)
		}
		for _, see := range e.See {
			if !ids[fold(see)] && !strings.HasPrefix(see, "fault-") || see == e.ID {
				t.Errorf("%s leads to %s, which is nowhere", e.ID, see)
			}
		}
	}
}

// Every formula has an entry, and there are no others. Findings are compared with rules by package diagnose.
func TestEverythingIsExplained(t *testing.T) {
	var formulas []string
	for _, f := range calc.All() {
		formulas = append(formulas, f.Name)
	}
	slices.Sort(formulas)
	if diff := cmp.Diff(formulas, ofKind(Formula)); diff != "" {
		t.Errorf("entries of formulas (-code +entries):\n%s", diff)
	}
}

// What people type leads to the entry, or to those that they may have meant.
func TestFind(t *testing.T) {
	all := Entries()
	for name, want := range map[string]string{"random-loss": "random-loss", "Receive Window": "receive-window", "RTT_min_seconds": "rtt_min_seconds",
		"Loss by congestion": "congestion-loss", " bdp ": "bdp"} {
		if e, err := Find(all, name); err != nil || e.ID != want {
			t.Errorf("%q: %s, %v", name, e.ID, err)
		}
	}
	for name, want := range map[string]string{"random-los": "random-loss", "recieve-window": "receive-window", "bufferbloats": "bufferbloat", "duplex": "duplex-mismatch",
		"black hole": "pmtu-blackhole", "retransmit": "retransmits_packets", "jiter": "jitter"} {
		_, err := Find(all, name)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || !unknown.BadInput() || !slices.Contains(unknown.Near, want) || len(unknown.Near) > fewNear {
			t.Errorf("%q: %v, want %s among what is near", name, err, want)
		}
	}
	if _, err := Find(all, "xyzzy-plugh-quux"); err == nil || !strings.Contains(err.Error(), "want a finding, a metric") {
		t.Errorf("nothing near: %v", err)
	}
}

func TestRelated(t *testing.T) {
	all := []Entry{{ID: "a", See: []string{"b", "nowhere"}}, {ID: "b", See: []string{"a"}}, {ID: "c", See: []string{"a"}}, {ID: "d"}}
	if diff := cmp.Diff([]Entry{all[1], all[2]}, Related(all, all[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A search finds entries by beginnings of words, those by their names first; words that are nowhere together find none.
func TestSearch(t *testing.T) {
	all := []Entry{{ID: "said", Title: "Something", Text: "The budget of losses."}, {ID: "loss-budget", Title: "Loss budget"},
		{ID: "other", Title: "Window", Text: "No loss here.", Also: []string{"Budgerigar"}}}
	for text, want := range map[string][]string{
		"loss budget": {"loss-budget", "said"}, "BUDG, loss": {"loss-budget", "said", "other"}, "window": {"other"}, "loss nowhere": nil, " - ": nil,
	} {
		var got []string
		for _, e := range Search(all, text) {
			got = append(got, e.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", text, got, want)
		}
	}
}
