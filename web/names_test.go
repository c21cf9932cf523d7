package web

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/analysis"
	"github.com/pathwise-net/pathwise/measure"
)

// routerNames is what reverse lookup says in tests.
var routerNames = map[string]string{"10.9.0.1": "core1.example.net", "10.9.0.2": "core2.example.net"}

// Hosts and routers have their names beside their addresses: in routes, in what changed, in the Result of a trace, and as part of what is
// wrong.
func TestNamesBesideAddresses(t *testing.T) {
	b := newBench(t)
	at := time.Now().Add(-time.Hour)
	route := func(id string, minute int, router string) *measure.Result {
		return traceOf(id, at.Add(time.Duration(minute)*time.Minute), []string{router}, []string{"10.9.0.9"}, []string{"10.0.0.2"})
	}
	all := []*measure.Result{route("01KAG0000000000000000000BA", 0, "10.9.0.1")}
	for i := range 7 {
		all = append(all, route(fmt.Sprintf("01KAG0000000000000000001B%d", i), i+1, []string{"10.9.0.1", "10.9.0.2"}[i/3%2]))
	}
	if err := b.Archive.Put(t.Context(), all[:7]); err != nil {
		t.Fatal(err)
	}
	b.run()
	b.serve(b.Handler(public))
	want := addressNames{"10.9.0.1": "core1.example.net", "10.9.0.2": "core2.example.net", "10.0.0.2": "b"}
	b.eventually("routers have names", func() bool {
		return cmp.Equal(want, read[routesDoc](b, "/api/v1/pairs/a/b/routes?from=-2h").Names)
	})
	b.expect(http.MethodGet, "/api/v1/changes?from=-2h&source=a&target=b", "", 200,
		`"text":"hop 1: core1.example.net (10.9.0.1) is now core2.example.net (10.9.0.2)"`)
	b.expect(http.MethodGet, "/api/v1/results/01KAG0000000000000000000BA/names", "", 200, `{"names":{"10.0.0.2":"b","10.9.0.1":"core1.example.net"}}`)
	b.expect(http.MethodGet, "/api/v1/results/01KAG0000000000000000000BA/route", "", 200, `"names":{"10.0.0.2":"b","10.9.0.1":"core1.example.net"},"known":[],"route":{"hops":[`)
	b.Known = func(_ context.Context, addresses []netip.Addr) (known []measure.AddressInfo) {
		for _, a := range addresses {
			if a == netip.MustParseAddr("10.9.0.1") || a == netip.MustParseAddr("10.9.0.9") {
				known = append(known, measure.AddressInfo{Address: a.String(), Name: "file." + a.String(), ASN: 64500, Owner: "Example University"})
			}
		}
		return known
	}
	const known = `"known":[{"address":"10.9.0.1","name":"file.10.9.0.1","asn":64500,"owner":"Example University","text":"[AS64500]  Example University"},{"address":"10.9.0.9",`
	for _, path := range []string{"results/01KAG0000000000000000000BA/route", "pairs/a/b/routes?from=-2h"} {
		b.expect(http.MethodGet, "/api/v1/"+path, "", 200, known)
		b.expect(http.MethodGet, "/api/v1/"+path, "", 200, `"10.9.0.1":"core1.example.net"`)
		b.expect(http.MethodGet, "/api/v1/"+path, "", 200, `"10.9.0.9":"file.10.9.0.9"`)
	}
	b.Listed = func(a netip.Addr) string {
		return map[string]string{"10.9.0.1": "listed1", "10.9.0.9": "listed9"}[a.String()]
	}
	b.expect(http.MethodGet, "/api/v1/results/01KAG0000000000000000000BA/names", "", 200, `{"names":{"10.0.0.2":"b","10.9.0.1":"core1.example.net","10.9.0.9":"listed9"}}`)
	for _, c := range []struct {
		kind       analysis.PartKind
		name, want string
	}{
		{analysis.OnLink, "10.9.0.1 - 10.9.0.9", "core1.example.net (10.9.0.1) - listed9 (10.9.0.9)"}, {analysis.AtRouter, "10.9.0.2", "core2.example.net (10.9.0.2)"},
		{analysis.AtHost, "10.9.0.1", "10.9.0.1"},
	} {
		part := analysis.Part{Kind: c.kind, Name: c.name}
		if got := b.namesOfParts([]analysis.Part{part}).part(part); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.name, got, c.want)
		}
	}
}

// A responder has no more addresses looked up than a route has hops.
func TestSeenOnAWayBack(t *testing.T) {
	r := &measure.Result{Samples: measure.Samples{Hops: []measure.Hop{{TTL: 1, Addresses: []string{"10.9.0.1", "10.9.0.2"}}}, Return: &measure.ReturnRoute{}}}
	for ttl := range 20 {
		h := measure.Hop{TTL: ttl + 1}
		for i := range 8 {
			h.Addresses = append(h.Addresses, fmt.Sprintf("192.0.2.%d", 8*ttl+i))
		}
		r.Samples.Return.Hops = append(r.Samples.Return.Hops, h)
	}
	seen := map[string]bool{}
	see(seen, r)
	if len(seen) != 2+mostBack || !seen["10.9.0.2"] || !seen["192.0.2.63"] || seen["192.0.2.64"] {
		t.Errorf("%d addresses are looked up: %v", len(seen), seen)
	}
}
