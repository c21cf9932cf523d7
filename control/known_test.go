package control

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/diagnose"
)

// illHost is a mesh of which all paths of b lose packets and are slow.
func illHost() *Worse {
	w := &Worse{}
	for _, ends := range [][2]string{{"a", "b"}, {"b", "a"}, {"b", "c"}, {"c", "b"}} {
		w.Pairs = append(w.Pairs, analysis.Watched{Source: ends[0], Target: ends[1]})
	}
	w.Troubles = []analysis.Trouble{{Part: analysis.Part{Kind: analysis.AtHost, Name: "b"}, Pairs: []int{0, 1, 2, 3}, Signs: []analysis.Told{
		{Sign: analysis.Sign{Aspect: analysis.Losing, Since: illSince}, Ill: 4, All: 4},
		{Sign: analysis.Sign{Aspect: analysis.Slowed, Since: illSince}, Ill: 2, All: 4}}}}
	return w
}

// What paths have in common is known of a path that belongs to one trouble alone, and of none that is of a pair by itself.
func TestCommonOf(t *testing.T) {
	b := &diagnose.Common{Part: analysis.Part{Kind: analysis.AtHost, Name: "b"}, Ill: 4, All: 4, Aspects: []analysis.Aspect{analysis.Losing, analysis.Slowed}}
	two, pair := illHost(), illHost()
	two.Troubles = append(two.Troubles, analysis.Trouble{Part: analysis.Part{Kind: analysis.FromHost, Name: "a"}, Pairs: []int{0}, Signs: two.Troubles[0].Signs})
	pair.Troubles[0].Part = analysis.Part{Kind: analysis.OfPair, Name: "a → b"}
	for name, c := range map[string]struct {
		worse          *Worse
		source, target string
		want           *diagnose.Common
	}{
		"a host":             {illHost(), "a", "b", b},
		"of others":          {illHost(), "a", "c", nil},
		"of two troubles":    {two, "a", "b", nil},
		"one of two":         {two, "b", "c", b},
		"one pair":           {pair, "a", "b", nil},
		"nothing is wrong":   {&Worse{}, "a", "b", nil},
		"the other way of b": {illHost(), "b", "a", b},
	} {
		if diff := cmp.Diff(c.want, c.worse.commonOf(c.source, c.target)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A diagnosis says that the host whose paths are all worse is to blame, whether somebody asked for it or not, and names it as the one to act.
func TestDiagnosisKnowsWhatIsCommon(t *testing.T) {
	for _, unasked := range []bool{true, false} {
		b, p := newPath(t, twoHosts+someTests)
		p.lossy = true
		b.judgeSick(p, new(int))
		b.config.Judge = func(context.Context) (*Worse, error) { return illHost(), nil }
		if unasked {
			b.lookOnce(false)
		} else if _, err := b.diagnosis(t.Context(), DiagnosisRequest{}); err != nil {
			t.Fatal(err)
		}
		f := b.filed()[0].Samples.Findings[0]
		if f.ID != "random-loss" || f.Where != "b or its access link" || !strings.Contains(f.Explanation, "4 of the 4 paths of b") || f.Advice[0].Host != f.Where {
			t.Errorf("unasked %t: %+v", unasked, f)
		}
	}
}

// The mesh file's rates of both hosts are known: the lesser, and of two that are the same that of the host whose paths are all worse.
func TestDeclared(t *testing.T) {
	slow := &diagnose.Common{Part: analysis.Part{Kind: analysis.AtHost, Name: "b"}}
	for rates, want := range map[[2]string]diagnose.Declared{
		{"", ""}:                             {},
		{", rate: 20mbit", ""}:               {Host: "a", BitsPerSecond: 20e6},
		{", rate: 20mbit", ", rate: 30mbit"}: {Host: "a", BitsPerSecond: 20e6},
		{", rate: 20mbit", ", rate: 20mbit"}: {Host: "b", BitsPerSecond: 20e6},
	} {
		b, _ := newPath(t, fmt.Sprintf("hosts: {a: {address: 10.0.0.1%s}, b: {address: 10.0.0.2%s}}\n", rates[0], rates[1])+someTests)
		if got := declared(b.Mesh(), slow, "a", "b"); got != want {
			t.Errorf("%q: %+v, want %+v", rates, got, want)
		}
	}
}
