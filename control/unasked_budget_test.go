package control

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// How many diagnoses of the hour are made, when there may be the next, and what is under way.
func TestUnaskedBudget(t *testing.T) {
	ago := func(minutes int) time.Time { return noon.Add(-time.Duration(minutes) * time.Minute) }
	before := []made{{"h", "a", ago(10), "host h", madeUnderWay}, {"k", "a", ago(20), "host k", madeFailed}, {"a", "b", ago(30), "", madeFiled},
		{"a", "b", ago(50), "pair a → b", madeFiled}, {"x", "y", ago(60), "host x", madeFiled}}
	h := []UnaskedBegins{{"host h", "h", "a", ago(10)}}
	for name, c := range map[string]struct {
		before []made
		hourly int
		want   UnaskedBudget
	}{
		"some are left":          {before, 4, UnaskedBudget{Hourly: 4, Made: 3, UnderWay: h}},
		"all are made":           {before, 3, UnaskedBudget{Hourly: 3, Made: 3, UnderWay: h, Next: ago(-10)}},
		"there were more before": {before, 2, UnaskedBudget{Hourly: 2, Made: 3, UnderWay: h, Next: ago(-40)}},
		"switched off":           {before, 0, UnaskedBudget{Made: 3, UnderWay: h}},
		"none was made":          {nil, 4, UnaskedBudget{Hourly: 4}},
	} {
		got := budgetOf(c.before, c.hourly, noon)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if spent := !got.Next.IsZero() || c.hourly == 0; spent == mayBegin(c.before, c.hourly, noon) {
			t.Errorf("%s: another may be begun: %v", name, !spent)
		}
	}
}

// What is under way, and what came to nothing, counts before anything of it is filed.
func TestUnaskedBudgetOfUnfiled(t *testing.T) {
	b, _, _ := newSickPath(t, twoHosts+someTests)
	one := made{"a", "b", b.now.Add(-time.Minute), "pair a → b", madeUnderWay}
	b.unasked.begin(one)
	of := func() UnaskedBudget {
		t.Helper()
		got, err := b.UnaskedBudget(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	hourly := b.Mesh().Controller.HourlyDiagnoses
	want := UnaskedBudget{Hourly: hourly, Made: 1, UnderWay: []UnaskedBegins{{one.trouble, "a", "b", one.began}}}
	if diff := cmp.Diff(want, of()); diff != "" {
		t.Errorf("under way (-want +got):\n%s", diff)
	}
	b.unasked.end(one, false)
	if diff := cmp.Diff(UnaskedBudget{Hourly: hourly, Made: 1}, of()); diff != "" {
		t.Errorf("come to nothing (-want +got):\n%s", diff)
	}
}
