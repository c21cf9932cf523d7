package control

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// Of what members tell, each ordered pair is filed once, by its receiver, and strangers are not.
func TestPairsOfMembers(t *testing.T) {
	m, err := config.Parse([]config.File{{Name: "mesh.yaml", Text: []byte(`hosts: {a: 10.0.0.1, b: 10.0.0.2, c: 10.0.0.3, d: 10.0.0.4}
tools: {tv: {probe: beacon}}
groups: {studio: {list: [a, b, c]}}
tests: [{tool: tv, group: studio, schedule: {every: 1m}}]
`)}}, probe.Catalogue{})
	if err != nil {
		t.Fatal(err)
	}
	members := []measure.Member{{Name: "b", Self: true}, {Name: "a", Address: "10.0.0.1"}, {Name: "vm-3", Address: "10.0.0.3"}, {Name: "d", Address: "10.0.0.4"},
		{Name: "b", Address: "10.0.0.9"}, {Name: "stranger", Address: "192.0.2.1"}}
	r := measure.NewResult("beacon", time.Now())
	r.Test, r.Tool, r.Source.Name, r.Target.Name, r.Samples.Members = "tv@studio", "tv", "b", "b", members
	for from := range members {
		for to := range members {
			if from != to {
				r.Samples.Pairs = append(r.Samples.Pairs, measure.MemberPair{From: from, To: to, Sent: 10, Received: 9})
			}
		}
	}
	r.Samples.Pairs = append(r.Samples.Pairs, measure.MemberPair{From: 99, To: -1})
	var got [][2]string
	for _, p := range withPairs(m, []*measure.Result{r})[1:] {
		got = append(got, [2]string{p.Source.Name, p.Target.Name})
	}
	if diff := cmp.Diff([][2]string{{"a", "b"}, {"c", "b"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	other := *r
	other.Test = "gone@studio"
	if all := withPairs(m, []*measure.Result{&other}); len(all) != 1 {
		t.Errorf("%d Results of a test that the mesh has no more", len(all))
	}
}
