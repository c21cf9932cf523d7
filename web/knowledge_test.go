package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/diagnose/knowledge"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/lab/faults"
)

// The API has every entry of the knowledge base and every fault of the lab, and each leads to others that are there.
func TestKnowledge(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	_, text, _ := b.ask(http.MethodGet, "/api/v1/knowledge", "")
	var got struct{ Entries []knowledge.Entry }
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %.300s", err, text)
	}
	own := knowledge.Entries()
	settings := slices.DeleteFunc(host.Items(), func(i host.Item) bool {
		return slices.ContainsFunc(own, func(e knowledge.Entry) bool { return e.ID == i.ID })
	})
	if want := len(own) + len(settings) + len(faults.List()); len(got.Entries) != want || len(settings) < 70 {
		t.Errorf("%d entries, want %d with %d settings", len(got.Entries), want, len(settings))
	}
	ids := map[string]bool{}
	for _, e := range got.Entries {
		if ids[e.ID] || e.Title == "" || e.Text == "" || e.See == nil {
			t.Errorf("%+v stands twice or is not whole", e)
		}
		ids[e.ID] = true
	}
	for _, e := range got.Entries {
		for _, see := range e.See {
			if !ids[see] {
				t.Errorf("%s leads to %s, which is nowhere", e.ID, see)
			}
		}
		if len(knowledge.Related(got.Entries, e)) == 0 {
			t.Errorf("%s has to do with nothing", e.ID)
		}
	}
	e, err := knowledge.Find(got.Entries, "fault-random-loss")
	if err != nil || e.Kind != knowledge.Fault || len(e.See) != 1 || e.See[0] != "random-loss" {
		t.Errorf("%+v, %v", e, err)
	}
}

// Every verdict has a title, and a finding has one in every place: here, in its entry, and where it is told of.
func TestTitles(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(owner))
	titles := read[titlesDoc](b, "/api/v1/titles").Titles
	for _, verdict := range []string{diagnose.Healthy, diagnose.Unknown, diagnose.Unchanged} {
		if titles[verdict] == "" {
			t.Errorf("the verdict %s has no title", verdict)
		}
	}
	for _, i := range host.Items() {
		if e, err := knowledge.Find(Knowledge(), i.ID); err != nil || e.ID != i.ID || titles[i.ID] == "" {
			t.Errorf("the setting %s is explained by %q (%v), and called %q", i.ID, e.ID, err, titles[i.ID])
		}
	}
	for _, e := range Knowledge() {
		if e.Kind == knowledge.Finding && (titles[e.ID] != e.Title || knowledge.TitleOf(e.ID) != e.Title) {
			t.Errorf("%s is called %q and %q, and its entry %q", e.ID, titles[e.ID], knowledge.TitleOf(e.ID), e.Title)
		}
	}
}
