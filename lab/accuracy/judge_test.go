package accuracy

import (
	"os"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab"
)

// library is a folder of recordings of diagnoses.
const library = "../../diagnose/testdata/faults/"

// recordOf is a record of a sample with what a recording of the library measured.
func recordOf(t *testing.T, recording, name string, sort Sort, expect ...Expected) *Record {
	t.Helper()
	r, err := Read(library + recording + ".json.gz")
	if err != nil {
		t.Fatal(err)
	}
	r.Sample = Sample{Name: name, Cause: strings.TrimRight(name, "-0123456789"), Sort: sort, Binds: Always, Expect: expect,
		Path: Path{Rate: 5e7, RTT: 0.04, Control: "cubic"}}
	return r
}

// What was measured is judged by today's rules, whatever was said when it was played; what does not bind, what the emulator could not
// carry and what could not be played are counted apart.
func TestJudge(t *testing.T) {
	window := named("receive-window-limited")[0]
	loose := recordOf(t, "path-full", "random-loss-001", Fault, named("random-loss")...)
	loose.Sample.Binds, loose.Without, loose.With = ByRate, 10e6, 9e6
	bound := recordOf(t, "receive-window-limited", "receive-window-limited-000", Fault, window)
	bound.Sample.Binds, bound.Without, bound.With = ByRate, 40e6, 15e6
	predicted := diagnose.Diagnose(bound.Results).First().Predicted.BitsPerSecond
	bound.Advice = &Advice{Finding: "receive-window-limited", How: ByCommand, Predicted: 1, Reached: predicted / 1.1}
	slow := recordOf(t, "nagle-delayed-ack", "nagle-delayed-ack-000", Fault, named("nagle-delayed-ack")...)
	slow.Sample.Binds, slow.Without, slow.With = ByTime, 0.01, 0.06
	weak := recordOf(t, "random-loss", "random-loss-003", Fault, named("random-loss")...)
	weak.Emulator = lab.EmulatorTruth{Bottleneck: true, Why: "it was late"}
	dir := t.TempDir()
	for _, r := range []*Record{
		bound, loose, slow, weak,
		recordOf(t, "policer", "random-loss-000", Fault, named("random-loss")...),
		recordOf(t, "random-loss", "burst-loss-000", Fault, named("burst-loss", "random-loss")...),
		{Sample: Sample{Name: "random-loss-002", Cause: "random-loss", Sort: Fault}, Failed: "no lab"},
		recordOf(t, "healthy-50mbit", "healthy-plain-000", Healthy, named("path-full")...),
		recordOf(t, "receive-window-limited", "healthy-plain-001", Healthy, named("path-full")...),
		recordOf(t, "receive-window-limited", "two-a-and-b-000", Two, window, named("nagle-delayed-ack")[0]),
	} {
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	outcomes, err := Judge(dir)
	if err != nil {
		t.Fatal(err)
	}
	f := Count(outcomes)
	type counts struct{ right, three, none, problems, both, predicted Share }
	got := counts{f.Right, f.Three, f.None, f.Problems, f.Both, f.Predicted}
	for _, s := range []*Share{&got.right, &got.three, &got.none, &got.problems, &got.both, &got.predicted} {
		s.Low, s.High = 0, 0
	}
	if want := (counts{Share{Of: 4, Hit: 3}, Share{Of: 4, Hit: 3}, Share{Of: 4}, Share{Of: 2, Hit: 1}, Share{Of: 1}, Share{Of: 1, Hit: 1}}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
	if s := f.States; s[Counts] != 7 || s[Loose] != 1 || s[Weak] != 1 || s[Broken] != 1 {
		t.Errorf("states %v, want 7, and one each", s)
	}
	var wrong []string
	for _, o := range f.Wrong {
		wrong = append(wrong, o.Sample.Name)
	}
	if got := strings.Join(wrong, " "); got != "healthy-plain-001 random-loss-000 two-a-and-b-000" {
		t.Errorf("wrong are %s", got)
	}
	for _, m := range f.Mimics {
		mistaken := m.Pair == [2]string{"random-loss", "policer"} // one sample of the first was called the second
		if missed := m.Apart.Of - m.Apart.Hit; mistaken && missed != 1 || !mistaken && missed != 0 {
			t.Errorf("%v: %d of %d samples were taken for the other", m.Pair, missed, m.Apart.Of)
		}
	}
	var text strings.Builder
	f.Write(&text)
	for _, want := range []string{"| faults that bind: verdict right", "| 4  | 75.0 %", "10 samples were played", "policer 1"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in:\n%s", want, text.String())
		}
	}
}

// Samples with a record are played no more, but where the plan's sample has become another.
func TestLeft(t *testing.T) {
	dir := t.TempDir()
	plan := planned(t, 7, 1)[:3]
	changed := plan[1]
	changed.Case += "# once"
	for _, s := range []Sample{plan[0], changed} {
		if err := (&Record{Sample: s}).Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	left := Left(plan, dir)
	if len(left) != 2 || left[0].Name != plan[1].Name || left[1].Name != plan[2].Name {
		t.Errorf("left %+v", left)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("%d files in the folder, %v", len(files), err)
	}
}
