package control

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
)

// illSince is when what is wrong in these tests began.
var illSince = noon.Add(-2 * time.Hour)

// sick is a mesh in which h and k are ill, and the pair of a and b.
func sick() *Worse {
	w := &Worse{}
	of := map[string]*analysis.Trouble{}
	add := func(source, target string, troubles ...string) {
		for _, name := range troubles {
			if of[name] == nil {
				of[name] = &analysis.Trouble{Part: analysis.Part{Kind: analysis.AtHost, Name: name},
					Signs: []analysis.Told{{Sign: analysis.Sign{Aspect: analysis.Losing, Since: illSince}}}}
			}
			of[name].Pairs = append(of[name].Pairs, len(w.Pairs))
		}
		w.Pairs = append(w.Pairs, analysis.Watched{Source: source, Target: target})
	}
	add("h", "k", "h", "k")
	add("h", "a", "h")
	add("b", "h", "h")
	add("a", "k", "k")
	add("b", "k", "k")
	add("a", "b", "p")
	of["p"].Part = analysis.Part{Kind: analysis.OfPair, Name: "a → b"}
	w.Troubles = []analysis.Trouble{*of["h"], *of["k"], *of["p"]}
	return w
}

// Which diagnosis is begun without anybody's asking, and when none is.
func TestNextUnasked(t *testing.T) {
	const hourly = 4
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	of := func(host, source, target string) *unasked {
		return &unasked{"host " + host, source, target, &diagnose.Common{Part: analysis.Part{Kind: analysis.AtHost, Name: host},
			Aspects: []analysis.Aspect{analysis.Losing}}}
	}
	h, k, p := of("h", "h", "a"), of("k", "a", "k"), &unasked{"pair a → b", "a", "b", nil}
	for name, c := range map[string]struct {
		before []made
		hourly int
		unfit  []string
		want   *unasked
	}{
		"what shows most, of a pair that is ill of nothing else": {hourly: hourly, want: h},
		"switched off":                         {hourly: 0},
		"the host that shows it most is away":  {hourly: hourly, unfit: []string{"a"}, want: of("h", "b", "h")},
		"all hosts are away":                   {hourly: hourly, unfit: []string{"a", "b"}},
		"diagnosed by somebody, the other way": {hourly: hourly, before: []made{{"h", "b", ago(time.Hour), "", madeFiled}}, want: k},
		"diagnosed before it was ill":          {hourly: hourly, before: []made{{"h", "a", ago(3 * time.Hour), "", madeFiled}}, want: h},
		"a diagnosis of both is of neither":    {hourly: hourly, before: []made{{"h", "k", ago(time.Hour), "", madeFiled}}, want: h},
		"left alone, though it began anew":     {hourly: hourly, before: []made{{"h", "a", ago(150 * time.Minute), "host h", madeFiled}}, want: k},
		"ill again after a while":              {hourly: hourly, before: []made{{"h", "a", ago(4 * time.Hour), "host h", madeFiled}}, want: h},
		"came to nothing just now":             {hourly: hourly, before: []made{{"h", "a", ago(30 * time.Minute), "host h", madeFailed}}, want: k},
		"another pair after a failure": {hourly: hourly, before: []made{{"h", "a", ago(2 * time.Hour), "host h", madeFailed}},
			want: of("h", "b", "h")},
		"one is under way: another trouble, of other hosts": {hourly: hourly, before: []made{{"h", "a", ago(time.Minute), "host h", madeUnderWay}},
			want: of("k", "b", "k")},
		"two are under way": {hourly: hourly, before: []made{{"h", "a", ago(time.Minute), "host h", madeUnderWay},
			{"b", "k", ago(time.Minute), "host k", madeUnderWay}}},
		"the hour's are made": {hourly: 2, before: []made{{"x", "y", ago(59 * time.Minute), "host x", madeFiled}, {"y", "z", ago(10 * time.Minute), "host z", madeFailed}}},
		"others ask for as many as they like": {hourly: 2, before: []made{{"x", "y", ago(59 * time.Minute), "", madeFiled},
			{"y", "z", ago(10 * time.Minute), "", madeFiled}}, want: h},
		"the last one": {hourly: hourly, before: []made{{"h", "a", ago(time.Hour), "host h", madeFiled}, {"k", "a", ago(time.Hour), "", madeFiled}}, want: p},
		"all are diagnosed": {hourly: hourly, before: []made{{"h", "a", ago(time.Hour), "host h", madeFiled}, {"k", "a", ago(time.Hour), "", madeFiled},
			{"a", "b", ago(time.Hour), "", madeFiled}}},
	} {
		fit := func(source, target string) bool {
			for _, u := range c.unfit {
				if u == source || u == target {
					return false
				}
			}
			return true
		}
		var got *unasked
		if mayBegin(c.before, c.hourly, noon) {
			got = nextUnasked(sick(), c.before, noon, fit)
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(unasked{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// newSickPath is a path between a and b that got worse, and how often that was asked.
func newSickPath(t *testing.T, mesh string) (b *bench, p *path, asked *int) {
	t.Helper()
	b, p = newPath(t, mesh)
	asked = new(int)
	b.judgeSick(p, asked)
	return b, p, asked
}

func (b *bench) judgeSick(p *path, asked *int) {
	b.config.Hub = p
	b.config.Judge = func(context.Context) (*Worse, error) {
		*asked++
		t := analysis.Trouble{Part: analysis.Part{Kind: analysis.OfPair, Name: "a → b"}, Pairs: []int{0},
			Signs: []analysis.Told{{Sign: analysis.Sign{Aspect: analysis.Slowed, Since: illSince}}}}
		return &Worse{Pairs: []analysis.Watched{{Source: "a", Target: "b"}}, Health: analysis.Health{Troubles: []analysis.Trouble{t}}}, nil
	}
	for _, host := range []string{"a", "b"} {
		b.roster.note(fleet.Status{Host: host, At: b.now}, b.now)
	}
}

// lookOnce looks for what got worse, and waits for what is begun.
func (b *bench) lookOnce(first bool) {
	b.t.Helper()
	u := &unaskedDiagnoses{Control: b.Control, diagnose: func(ctx context.Context, r DiagnosisRequest) (*diagnose.Diagnosis, error) {
		shown := r.Show
		r.Show = func(l DiagnosisLine) {
			if l.Begins != nil {
				b.turn(*l.Begins)
			}
			shown(l)
		}
		return b.Diagnose(ctx, r)
	}}
	if err := u.look(b.t.Context(), first); err != nil {
		b.t.Fatal(err)
	}
	u.work.Wait()
}

// What got worse is diagnosed once: what is filed says of what, and after a restart it is known.
func TestDiagnoseUnasked(t *testing.T) {
	b, p, asked := newSickPath(t, twoHosts+someTests)
	b.lookOnce(false)
	filed := b.filed()
	if len(filed) != 1 || Unasked(filed[0]) != "pair a → b" || filed[0].Parameters["verdict"] != "receive-window-limited" || filed[0].Role != measure.RoleDemand {
		t.Fatalf("filed %+v", filed)
	}
	b.restart()
	b.judgeSick(p, asked)
	b.plan()
	b.lookOnce(true)
	if len(b.filed()) != 1 || *asked != 2 {
		t.Errorf("after a restart %d diagnoses are filed, and it was asked %d times what is wrong", len(b.filed()), *asked)
	}
}

// A mesh file can have none made; the first look is made all the same, which reads the past for whoever looks first.
func TestDiagnoseUnaskedIsOff(t *testing.T) {
	b, _, asked := newSickPath(t, twoHosts+strings.Replace(someTests, "horizon: 30m", "horizon: 30m, hourly_diagnoses: 0", 1))
	b.lookOnce(true)
	b.lookOnce(false)
	if len(b.filed()) != 0 || *asked != 1 {
		t.Errorf("%d are filed, and it was asked %d times what is wrong", len(b.filed()), *asked)
	}
}

// The bytes of a day are the plan's and people's: a diagnosis that nobody asked for has a quarter of them.
func TestUnaskedBytes(t *testing.T) {
	b := newBench(t, "hosts: {a: {address: 10.0.0.1, limits: {daily: 100MB}}, b: 10.0.0.2}\n"+someTests)
	b.plan()
	m := b.Mesh()
	limits := m.DailyLimits(0, 1)
	if _, err := b.spending.take(limits, 20e6, true, b.now); err != nil {
		t.Fatal(err)
	}
	var denial *Denial
	if _, err := b.spending.take(limits, 10e6, true, b.now); !errors.As(err, &denial) || !tooLong(err) {
		t.Errorf("beyond a quarter of the day's bytes: %v", err)
	}
	if _, err := b.spending.take(limits, 10e6, false, b.now); err != nil {
		t.Errorf("of somebody who asks: %v", err)
	}
}
