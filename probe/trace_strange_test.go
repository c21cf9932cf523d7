package probe

import (
	"encoding/json"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// strangeRoutes are Results of each form of a trace, which tests make strange ones of.
func strangeRoutes() (all []measure.Result) {
	hops := []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.1"}, RTTSeconds: []*float64{new(0.001), nil}, DSCP: new(8)}, {TTL: 2, Addresses: []string{"10.0.0.2", "10.0.0.3"}, ReturnHops: 3}}
	loop := measure.RouteSample{FirstSilent: 1, Remarks: []measure.RouteRemark{{Kind: measure.RemarkLoop, TTLs: []int{1, 2}, Addresses: []string{"10.0.0.1", ""}, Count: 1}}}
	for _, kind := range []measure.RemarkKind{measure.RemarkSilent, measure.RemarkZeroTTL, measure.RemarkSameAddress, measure.RemarkTranslated, measure.RemarkLoss, measure.RemarkOpaqueTunnel} {
		loop.Remarks = append(loop.Remarks, measure.RouteRemark{Kind: kind, TTLs: []int{1, 2}, Addresses: []string{"10.0.0.1"}, Count: 1})
	}
	for _, s := range []measure.Samples{
		{Hops: hops, Route: &loop},
		{Hops: hops, Route: &loop, Rounds: &measure.RoundsSample{Rounds: 3, Hops: []measure.HopRounds{{TTL: 1, Sent: 3, Answered: 3, From: []measure.HopAnswers{{Address: "10.0.0.1", Packets: 3}}}, {TTL: 2, Sent: 3}}}},
		{Hops: hops, Route: &loop, Return: &measure.ReturnRoute{Hops: hops, Route: loop, Comparison: measure.RouteComparison{
			Links: []measure.LinkPair{{Forward: 1, Return: 2, Mark: measure.LinkShared}, {Forward: 2, Return: 1, Mark: measure.LinkOther}}}}},
		{Hops: hops, Paths: &measure.PathsSample{Vertices: []measure.PathVertex{{TTL: 1, Address: "10.0.0.1"}, {TTL: 2, Address: "10.0.0.2", Final: true}},
			Links: []measure.PathLink{{From: 0, To: 1, Certain: true}}}},
		{Hops: hops, Middleboxes: &measure.Middleboxes{Points: []measure.MiddleboxPoint{{TTL: 1, Shown: "all"}, {TTL: 2, Far: true}},
			Changes: []measure.PacketChange{{Field: "MSS", From: "1460", To: "1400", After: 1, By: 2}}, Proxy: &measure.Proxy{TTL: 1, Distance: 2}}},
	} {
		all = append(all, measure.Result{Kind: "trace", Samples: s})
	}
	return all
}

// strange calls try with a document as often as there is a number or a list in it, each time with another one changed.
func strange(value any, try func()) {
	within := func(child any, set func(any)) {
		switch v := child.(type) {
		case float64:
			for _, other := range []any{-1, 0, 3, 300, math.MaxInt64, math.MinInt64} {
				set(other)
				try()
			}
		case []any:
			for _, other := range [][]any{{}, v[:len(v)/2], slices.Concat(v, v)} {
				set(other)
				try()
			}
		}
		set(child)
		strange(child, try)
	}
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			within(child, func(other any) { v[key] = other })
		}
	case []any:
		for i, child := range v {
			within(child, func(other any) { v[i] = other })
		}
	}
}

// A Result that was made elsewhere is printed, whatever its numbers are and however long its lists.
func TestTraceTextOfStrangeResults(t *testing.T) {
	tried := 0
	for _, r := range strangeRoutes() {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var document map[string]any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		strange(document, func() {
			var changed measure.Result
			text, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%v: %s", p, text)
				}
			}()
			if json.Unmarshal(text, &changed) == nil {
				WriteText(io.Discard, &changed)
				tried++
			}
		})
	}
	if tried < 300 {
		t.Errorf("only %d were printed", tried)
	}
}

func FuzzTraceText(f *testing.F) {
	for _, r := range strangeRoutes() {
		text, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var r measure.Result
		if json.Unmarshal(text, &r) == nil {
			r.Kind = "trace"
			WriteText(io.Discard, &r)
		}
	})
}
