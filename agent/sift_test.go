package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// What an agent says that it understands is what its probes take: each kind, each parameter, and each word that one can be or could be.
func TestStatusSaysAbilities(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := run(t, Config{Dir: t.TempDir(), Prober: (&fakeProber{}).new})
		pass(fleet.StatusEvery)
		want := &fleet.Abilities{Protocol: fleet.Protocol, Results: measure.NewResult("ping", time.Now()).Schema, Kinds: map[string][]string{}, Sealed: []string{measure.ResponderSTAMP},
			Values: map[string]map[string][]string{}}
		for _, k := range probe.Kinds() {
			want.Kinds[k.Name], want.Values[k.Name] = []string{}, map[string][]string{}
			for _, p := range k.Parameters {
				want.Kinds[k.Name] = append(want.Kinds[k.Name], p.Name)
				if p.Values != nil {
					want.Values[k.Name][p.Name] = slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(p.Values), maps.Keys(p.Former))))
				}
			}
			slices.Sort(want.Kinds[k.Name])
		}
		if diff := cmp.Diff(want, a.lastStatus().Can); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// What a newer controller puts into one run costs that run and nothing else: its Result says why, where the run can be told at
// all, and all other runs of the plan are done.
func TestOneRunCostsNoPlan(t *testing.T) {
	t.Parallel()
	const cannotRead = "refused: this agent's build cannot read it; its controller may be newer: json: cannot unmarshal "
	set := func(key string, v any) func(map[string]any) { return func(r map[string]any) { r[key] = v } }
	task := func(v any) func(map[string]any) { return set("task", v) }
	for name, c := range map[string]struct {
		change func(run map[string]any)
		want   string // how the Result's error begins; "": there is no Result
	}{
		"an unknown kind":           {task(map[string]any{"kind": "telepathy", "target": "192.0.2.1"}), `probe "telepathy": there is no such kind`},
		"an unknown parameter":      {task(map[string]any{"kind": "ping", "target": "192.0.2.1", "parameters": map[string]any{"hue": 3}}), `hue "3": ping has no such parameter`},
		"an unknown value":          {task(map[string]any{"kind": "ping", "target": "192.0.2.1", "parameters": map[string]any{"proto": "twamp"}}), `proto "twamp": give icmp`},
		"a field of another type":   {set("limit_seconds", map[string]any{"soft": 5}), cannotRead + "object"},
		"a far side of another":     {set("far", []any{1}), cannotRead + "array"},
		"a task of another shape":   {task("ping"), cannotRead + "string"},
		"a time in another layout":  {set("start", "tomorrow"), "refused: this agent's build cannot read it; its controller may be newer: parsing time"},
		"a limit beyond what is":    {set("limit_seconds", 200_000), "refused: run " + id(3) + ": a limit of 200000 s; want more than 0, and at most 24h0m0s"},
		"an ID of another layout":   {set("id", "x"), ""},
		"another's run":             {set("source", "b"), ""},
		"a run that is there twice": {set("id", id(2)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := run(t, Config{Dir: t.TempDir(), Prober: (&fakeProber{}).new})
				p := fleet.Plan{Host: host, Number: 7}
				for n := 2; n < 5; n++ {
					p.Runs = append(p.Runs, newRun(n, time.Now().Add(time.Duration(n)*time.Second)))
				}
				if err := a.Plan(t.Context(), changed(t, p, "runs", 1, c.change)); err != nil {
					t.Fatal(err)
				}
				pass(time.Minute)
				got := map[string]string{}
				for id, r := range a.link.results {
					got[id] = string(r.Status)
					if r.Error != nil {
						got[id] += " " + (*r.Error)[:min(len(*r.Error), len(c.want))]
					}
				}
				want := map[string]string{id(2): "ok", id(4): "ok"}
				if c.want != "" {
					want[id(3)] = "failed " + c.want
				}
				if diff := cmp.Diff(want, got); diff != "" || a.lastStatus().Plan != 7 {
					t.Errorf("plan %d; Results (-want +got):\n%s", a.lastStatus().Plan, diff)
				}
			})
		})
	}
}

// One opening that cannot be understood keeps no other closed.
func TestOneOpeningCostsNoPlan(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(map[string]any){
		"a field of another type": func(o map[string]any) { o["until"] = []int{1} },
		"an ID of another layout": func(o map[string]any) { o["run"] = "x" },
		"an unknown kind":         func(o map[string]any) { o["far"] = map[string]any{"kind": "twamp", "port": 1, "secret": "s"} },
	} {
		a, err := New(Config{Host: host, Dir: t.TempDir(), Link: newLink()})
		if err != nil {
			t.Fatal(err)
		}
		p := fleet.Plan{Host: host, Number: 7, Runs: []measure.Run{newRun(9, time.Now().Add(time.Hour))}}
		for n := range 3 {
			p.Opens = append(p.Opens, fleet.Opening{Run: id(n), Source: "b", From: time.Now(), Until: time.Now().Add(time.Hour), Responder: measure.Responder{Kind: "iperf3"}})
		}
		if err := a.Plan(t.Context(), changed(t, p, "opens", 1, change)); err != nil {
			t.Fatal(err)
		}
		held := []string{}
		for _, o := range a.agenda.opens.events {
			if o.Responder.Kind == measure.ResponderIperf3 {
				held = append(held, o.Run)
			}
		}
		if diff := cmp.Diff([]string{id(0), id(2)}, held); diff != "" || len(a.agenda.runs.events) != 1 {
			t.Errorf("%s: %d runs; openings (-want +got):\n%s", name, len(a.agenda.runs.events), diff)
		}
		if err := a.end(); err != nil {
			t.Error(err)
		}
	}
}

// changed is a plan as an agent reads it after one element of its JSON was changed.
func changed(t *testing.T, p fleet.Plan, list string, at int, change func(map[string]any)) (out fleet.Plan) {
	t.Helper()
	var plan map[string]any
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(plan[list].([]any)[at].(map[string]any))
	if text, err = json.Marshal(plan); err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever runs are in a plan, each is done or refused, and none is both.
func FuzzSift(f *testing.F) {
	f.Add(`{"host": "a", "runs": [{"id": "` + id(1) + `", "source": "a", "limit_seconds": 1}, {"id": 3}], "opens": [{"run": 1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var p fleet.Plan
		if json.Unmarshal([]byte(text), &p) != nil {
			return
		}
		all := len(p.Runs) + len(p.Unread)
		if refused := sift(&p); len(p.Runs)+len(refused) != all {
			t.Errorf("of %d runs %d are held and %d refused", all, len(p.Runs), len(refused))
		}
		ids := map[string]bool{}
		for _, r := range p.Runs {
			ids[strings.ToUpper(r.ID)] = true
		}
		if len(ids) != len(p.Runs) {
			t.Errorf("twice: %v", slices.Sorted(maps.Keys(ids)))
		}
	})
}
