package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

// commonTo is what 22 paths of a part have in common.
func commonTo(kind analysis.PartKind, name string) Known {
	return Known{Common: &Common{analysis.Part{Kind: kind, Name: name}, 22, 22, []analysis.Aspect{analysis.Losing, analysis.Slowed}}}
}

// Where all paths of a host lose packets it is the host or its line: the finding says so, who is to act, and what helps at which host.
func TestCommonLoss(t *testing.T) {
	results := with(lossy).results() // from bob to carol
	const bbr = "BBR does not take single losses"
	for name, c := range map[string]struct {
		known Known
		where string
		says  string
		hosts []string // of the advice
	}{
		"nothing is known": {Known{}, "path from bob to carol", "", []string{"path from bob to carol", "bob"}},
		"the receiver": {commonTo(analysis.AtHost, "carol"), "carol or its access link",
			"22 of the 22 paths of carol, to it and from it, lose packets or are slow, and what they have in common is carol or its access link: " +
				"look there, and not at bob or in between. Whoever runs carol is to act.",
			[]string{"carol or its access link", "carol", "each host that sends to carol"}},
		"the sender": {commonTo(analysis.AtHost, "bob"), "bob or its access link", "and not at carol or in between. Whoever runs bob",
			[]string{"bob or its access link", "bob", "each host that sends to bob"}},
		"what one receives": {commonTo(analysis.ToHost, "carol"), "carol or its access link, inwards", "22 of the 22 paths to carol lose",
			[]string{"carol or its access link, inwards", "each host that sends to carol"}},
		"what one sends": {commonTo(analysis.FromHost, "bob"), "bob or its access link, outwards", "22 of the 22 paths from bob lose",
			[]string{"bob or its access link, outwards", "bob"}},
		"what the receiver sends": {commonTo(analysis.FromHost, "carol"), "path from bob to carol", "", []string{"path from bob to carol", "bob"}},
		"a link": {commonTo(analysis.OnLink, "r1 - r2"), "the link r1 - r2", "paths over the link r1 - r2 lose packets",
			[]string{"the link r1 - r2", "bob"}},
		"a pair": {commonTo(analysis.OfPair, "bob → carol"), "path from bob to carol", "", []string{"path from bob to carol", "bob"}},
	} {
		d := DiagnoseKnowing(results, c.known)
		f := d.First()
		if f == nil || f.ID != "random-loss" || f.Where != c.where || !strings.Contains(f.Explanation, c.says) {
			t.Errorf("%s: %+v", name, f)
			continue
		}
		var hosts []string
		for _, a := range f.Advice {
			hosts = append(hosts, a.Host)
		}
		if !slices.Equal(hosts, c.hosts) || c.says != "" && strings.Contains(f.Advice[0].Why, "half of the path") {
			t.Errorf("%s: advice %+v", name, f.Advice)
		}
		if last := f.Advice[len(f.Advice)-1]; !strings.Contains(last.Why, bbr) || !strings.Contains(last.Command, "=bbr") {
			t.Errorf("%s: advice %+v", name, last)
		}
		checkFindings(t, d)
	}
}

// What is set at the host that paths have in common holds for all of them; what is set at the other end says nothing of it.
func TestCommonEnds(t *testing.T) {
	results := with(smallWindow).results()
	for host, says := range map[string]string{"carol": "It holds for all who send to carol, and not for bob alone.", "bob": ""} {
		f := DiagnoseKnowing(results, commonTo(analysis.AtHost, host)).First()
		plain := Diagnose(results).First().Explanation
		if want := strings.TrimSpace(plain + " " + says); f.ID != "receive-window-limited" || f.Explanation != want {
			t.Errorf("%s: %s, want %s", host, f.Explanation, want)
		}
	}
}

// A line that carries far less than is declared is a finding, also where transfers get all of it.
func TestBelowDeclared(t *testing.T) {
	full, slow := with(fullPath), with(smallWindow)
	for name, c := range map[string]struct {
		path     path
		declared float64
		verdict  string
		says     string // of below-declared; "": there is none
	}{
		"nobody says":       {full, 0, Healthy, ""},
		"as declared":       {full, 1.2 * full.capacity, Healthy, ""},
		"a part":            {full, 2 * full.capacity, "below-declared", "nothing else holds them back"},
		"a part of a cause": {slow, 2 * slow.capacity, "receive-window-limited", "declares 195 Mbit/s for carol (its rate)"},
	} {
		d := DiagnoseKnowing(c.path.results(), Known{Declared: Declared{"carol", c.declared}})
		i := slices.IndexFunc(d.Findings, func(f measure.Finding) bool { return f.ID == "below-declared" })
		if d.Verdict != c.verdict || (i >= 0) != (c.says != "") || i >= 0 && !strings.Contains(d.Findings[i].Explanation, c.says) {
			t.Errorf("%s: verdict %s, findings %+v", name, d.Verdict, d.Findings)
		}
		checkFindings(t, d)
	}
	all := commonTo(analysis.AtHost, "carol")
	all.Declared = Declared{"carol", 2 * full.capacity}
	if f := DiagnoseKnowing(full.results(), all).First(); f.Where != "carol or its access link" || f.Advice[0].Host != f.Where {
		t.Errorf("%+v", f)
	}
}
