package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/lookup"
	"github.com/pathwise-net/pathwise/measure"
)

// A name server that says nothing costs no more than the limit, and that is said; what files know stays.
func TestTraceWithoutNameServer(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	known := knownFlags{names: byDNS, knownSources: knownSources{asn: byDNS + ":asn.example", server: silent.LocalAddr().String()}}
	if err := known.open(); err != nil {
		t.Fatal(err)
	}
	if known.sources.Owners, err = lookup.ReadOwners(strings.NewReader("inetnum: 192.0.2.0/24\ndescr: Example University\ncountry: CH\n")); err != nil {
		t.Fatal(err)
	}
	known.cache = lookup.NewCache(known.sources)
	r := &measure.Result{Source: measure.Endpoint{Address: "198.51.100.1"}, Samples: measure.Samples{
		Hops: []measure.Hop{{TTL: 1, Addresses: []string{"192.0.2.1"}}, {TTL: 2, Addresses: []string{"203.0.113.1", "192.0.2.1"}}},
	}}
	began := time.Now()
	known.tell(context.Background(), r)
	if took := time.Since(began); took > lookup.MostTime+lookup.MostTime/2 {
		t.Errorf("it took %v", took)
	}
	want := []measure.AddressInfo{{Address: "192.0.2.1", Owner: "Example University", Country: "CH"}}
	if d := cmp.Diff(want, r.Samples.Addresses); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"name servers said nothing of 3 of 3 addresses within 2.00 s"}, r.Notes); d != "" {
		t.Errorf("notes (-want +got):\n%s", d)
	}
	// Whoever leaves before is not kept waiting, and what a note says of it is true.
	known.cache = lookup.NewCache(known.sources)
	left, leave := context.WithCancel(context.Background())
	leave()
	began, r.Notes = time.Now(), nil
	known.tell(left, r)
	if took := time.Since(began); took > lookup.MostTime/2 {
		t.Errorf("after it was left it took %v", took)
	}
	if d := cmp.Diff([]string{"name servers said nothing so far of 3 of 3 addresses"}, r.Notes); d != "" {
		t.Errorf("notes (-want +got):\n%s", d)
	}
}

// Where --names says where to look, nobody else is asked for the names that a terminal shows, and none is asked for twice.
func TestNamesOnATerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte("192.0.2.1 home\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	known := &knownFlags{names: file}
	if err := known.open(); err != nil {
		t.Fatal(err)
	}
	find := (&session{known: known}).nameFinder()
	asked := 0
	names := newHopNames(func(ctx context.Context, address string) (string, bool) {
		asked++
		return find(ctx, address)
	})
	for range 2 {
		names.begin(t.Context(), "192.0.2.1", nil)
		names.wait()
	}
	if got := names.of("192.0.2.1"); got != "home" || asked != 1 {
		t.Errorf("%q, asked %d times; want home, once", got, asked)
	}
	if got, answered := find(t.Context(), "127.0.0.1"); got != "" || !answered { // which the file does not have
		t.Errorf("%q, answered %v", got, answered)
	}
}

// A name that no server told is looked for again after a while, and no sooner; one that was told, or is not there, is not.
func TestNamesAreLookedForAgain(t *testing.T) {
	asked, answers := 0, false
	names := newHopNames(func(context.Context, string) (string, bool) {
		if asked++; answers {
			return "home", true
		}
		return "", false
	})
	var gone time.Duration
	began := time.Now()
	names.now = func() time.Time { return began.Add(gone) }
	for _, step := range []struct {
		gone    time.Duration
		answers bool
		asked   int
		name    string
	}{{0, false, 1, ""}, {lookup.AskAgain - 1, true, 1, ""}, {lookup.AskAgain, true, 2, "home"}, {10 * lookup.AskAgain, false, 2, "home"}} {
		gone, answers = step.gone, step.answers
		names.begin(t.Context(), "192.0.2.1", nil)
		names.wait()
		if got := names.of("192.0.2.1"); got != step.name || asked != step.asked {
			t.Errorf("after %v: %q, asked %d times; want %q, %d", step.gone, got, asked, step.name, step.asked)
		}
	}
}

// Nothing is asked of a name server without a flag that says so.
func TestTraceAsks(t *testing.T) {
	cymru := lookup.ZonesBelow(lookup.CymruZone)
	own := lookup.Zones{V4: "origin.example.net", V6: "origin6.example.net", AS: "example.net"}
	for _, test := range []struct {
		flags knownFlags
		names bool
		zones *lookup.Zones
	}{
		{knownFlags{}, false, nil},
		{knownFlags{names: byDNS}, true, nil},
		{knownFlags{names: "/etc/hosts"}, false, nil},
		{knownFlags{knownSources: knownSources{asn: config.AskCymru}}, false, &cymru},
		{knownFlags{names: byDNS, knownSources: knownSources{asn: "dns:example.net.", server: "127.0.0.1:53"}}, true, &own},
	} {
		f := test.flags
		if err := f.open(); err != nil {
			t.Errorf("%+v: %v", test.flags, err)
		}
		if d := cmp.Diff(test.zones, f.sources.Zones); d != "" || f.sources.Names != test.names || (f.sources.DNS != nil) != (test.names || test.zones != nil) {
			t.Errorf("%+v: names %v, a server %v, zones (-want +got):\n%s", test.flags, f.sources.Names, f.sources.DNS != nil, d)
		}
	}
}
