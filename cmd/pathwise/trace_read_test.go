package main

import (
	"math"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// Routes that lead to hops which are not there are told from those that a trace may find.
func TestAstray(t *testing.T) {
	hops := []measure.Hop{{TTL: 1}, {TTL: 2}}
	paths := func(l measure.PathLink) measure.Samples {
		return measure.Samples{Paths: &measure.PathsSample{Vertices: []measure.PathVertex{{TTL: 1}, {TTL: 2}}, Links: []measure.PathLink{l}}}
	}
	both := func(l measure.LinkPair) measure.Samples {
		return measure.Samples{Hops: hops, Return: &measure.ReturnRoute{Hops: hops[:1], Comparison: measure.RouteComparison{Links: []measure.LinkPair{l}}}}
	}
	loop := func(ttl int) measure.Samples {
		return measure.Samples{Hops: hops, Route: &measure.RouteSample{Remarks: []measure.RouteRemark{{Kind: measure.RemarkLoop, TTLs: []int{1, ttl}}}}}
	}
	for _, test := range []struct {
		samples measure.Samples
		want    string
	}{
		{measure.Samples{Hops: hops}, ""},
		{paths(measure.PathLink{From: 0, To: 1}), ""},
		{paths(measure.PathLink{From: 1, To: 0}), "a link leads from vertex 1 of 2 to 0"},
		{paths(measure.PathLink{From: 0, To: 2}), "a link leads from vertex 0 of 2 to 2"},
		{paths(measure.PathLink{From: -1, To: 1}), "a link leads from vertex -1 of 2 to 1"},
		{both(measure.LinkPair{Forward: 2, Return: 1}), ""},
		{both(measure.LinkPair{Forward: 0, Return: 2}), "a link is of hop 0 of 2 there, and 2 of 1 back"},
		{both(measure.LinkPair{Forward: -1}), "a link is of hop -1 of 2 there, and 0 of 1 back"},
		{loop(2), ""},
		{loop(-2), "a remark is of hops [1 -2]"},
		{loop(math.MaxInt), "a remark is of hops [1 9223372036854775807]"},
		{measure.Samples{Hops: hops, Rounds: &measure.RoundsSample{Hops: make([]measure.HopRounds, 2)}}, ""},
		{measure.Samples{Hops: hops, Rounds: &measure.RoundsSample{Hops: make([]measure.HopRounds, 3)}}, "rounds are of 3 hops of 2"},
	} {
		if got := astray(&measure.Result{Samples: test.samples}); got != test.want {
			t.Errorf("%+v: %q, want %q", test.samples, got, test.want)
		}
	}
}
