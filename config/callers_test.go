package config

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

const withCallers = `
hosts: {a: {address: 10.0.0.1, rate: 100mbit}, b: 10.0.0.2, c: 10.0.0.3}
tools: {rtt: {probe: ping}, bulk: {probe: throughput}}
groups: {ab: {list: [a, b]}}
controller:
  tls: {certificate: x.crt, key: x.key}
  callers:
    classes:
      all:   {daily_bytes: 1GB, duration: 1m}
      staff: {parent: all, parallel: 2}
      guest: {parent: all, tools: [rtt, trace], source: group:ab, target: c, rate: 1mbit, hours: "18:00-08:00", days: mon-fri, zone: Europe/London}
      none:  {tools: []}
    assign:
      - {class: staff, token: [alice, bob]}
      - {class: none,  token: bob, network: 192.0.2.0/24}
      - {class: all,   network: [198.51.100.0/24, "2001:db8::/32"]}
      - {class: staff, network: 198.51.100.128/25}
      - {class: all,   account: bob}
    default: guest
`

// The most specific assignment counts: a token and a network, then a token, then the longest network.
func TestClassOf(t *testing.T) {
	c := &parsed(t, withCallers).Controller.Callers
	for _, who := range []struct{ token, account, address, want string }{
		{"alice", "", "192.0.2.1", "staff"}, {"bob", "", "203.0.113.1", "staff"}, {"bob", "", "192.0.2.1", "none"},
		{"eve", "", "198.51.100.1", "all"}, {"eve", "", "198.51.100.129", "staff"}, {"eve", "", "::ffff:198.51.100.129", "staff"},
		{"eve", "", "2001:db8::1", "all"}, {"eve", "", "203.0.113.1", "guest"}, {"alice", "", "198.51.100.1", "staff"},
		{"", "bob", "203.0.113.1", "all"}, {"", "bob", "198.51.100.129", "all"}, {"", "alice", "203.0.113.1", "guest"},
	} {
		if got := c.ClassOf(&Caller{who.token, who.account, netip.MustParseAddr(who.address)}); got != who.want {
			t.Errorf("%+v: %q, want %q", who, got, who.want)
		}
	}
	if got := c.ClassOf(&Caller{Token: "eve"}); got != "guest" {
		t.Errorf("without an address: %q, want the default", got)
	}
	if got := (&Callers{}).ClassOf(&Caller{Token: "alice"}); got != "" {
		t.Errorf("without callers: %q, want no class", got)
	}
}

// A test must be within each limit of its class and of the parents.
func TestDenies(t *testing.T) {
	m := parsed(t, withCallers)
	night := time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC)
	ping := measure.Demand{DurationSeconds: 5, Bytes: 1000, BitsPerSecond: 1600}
	bulk := measure.Demand{DurationSeconds: 10, Exclusive: true}
	rtt := Ask{Tool: "rtt", Kind: "ping", Source: 0, Target: 2, At: night, Need: ping, Bytes: 1000}
	with := func(change func(*Ask)) Ask { a := rtt; change(&a); return a }
	for _, c := range []struct {
		name, class string
		ask         Ask
		used        map[string]Use
		want        *Denial
	}{
		{name: "allowed", class: "guest", ask: rtt},
		{name: "a kind", class: "guest", ask: with(func(a *Ask) { a.Tool, a.Kind = "path", "trace" })},
		{"tool", "guest", with(func(a *Ask) { a.Tool, a.Kind = "bulk", "throughput" }), nil,
			&Denial{"guest", "tools", "bulk", "one of rtt, trace", false}},
		{"no tool", "none", rtt, nil, &Denial{"none", "tools", "rtt", "none at all", false}},
		{"source", "guest", with(func(a *Ask) { a.Source = 2 }), nil, &Denial{"guest", "source", "c", "one of a, b", false}},
		{"target", "guest", with(func(a *Ask) { a.Target = 1 }), nil, &Denial{"guest", "target", "b", "one of c", false}},
		{"rate", "guest", with(func(a *Ask) { a.Need.BitsPerSecond = 2e6 }), nil,
			&Denial{"guest", "rate", "2.00 Mbit/s", "at most 1.00 Mbit/s", false}},
		{"no rate", "guest", with(func(a *Ask) { a.Need = bulk }), nil,
			&Denial{"guest", "rate", "as fast as the path carries", "a test with a rate, of at most 1.00 Mbit/s", false}},
		{"hours", "guest", with(func(a *Ask) { a.At = night.Add(-6 * time.Hour) }), nil,
			&Denial{"guest", "hours", "Fri 17:00 GMT", "mon,tue,wed,thu,fri 18:00-08:00 Europe/London", false}},
		{"the parent's duration", "staff", with(func(a *Ask) { a.Need.DurationSeconds = 63 }), nil,
			&Denial{"all", "duration", "1m3s", "at most 1m0s", false}},
		{name: "its setting up", class: "staff", ask: with(func(a *Ask) { a.Need.DurationSeconds = 62 })},
		{"parallel", "staff", rtt, map[string]Use{"staff": {Tests: 2}}, &Denial{"staff", "parallel", "3", "at most 2 at a time", true}},
		{"the parent's day", "staff", rtt, map[string]Use{"all": {Bytes: 1e9 - 999}},
			&Denial{"all", "daily_bytes", "1.00 kB", "at most 999 B: 1.00 GB a day, of which 1.00 GB are taken", true}},
		{"a class that is gone", "gone", rtt, nil, &Denial{"", "class", "gone", "one that the mesh file has", false}},
	} {
		got := m.Denies(c.class, c.ask, func(class string) Use { return c.used[class] })
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestRemoteWriteLabels(t *testing.T) {
	all := parsed(t, `
hosts: {a: 10.0.0.1}
controller:
  remote_write:
    - https://one.example.org/api/v1/write
    - {url: "https://two.example.org/a", ca_file: ca.pem, headers: {X-Scope-OrgID: pathwise}, user: me, password_file: p}
    - {url: "https://two.example.org/b", token_file: t}
    - {name: third, url: "https://one.example.org/b"}
`).Controller.RemoteWrite
	want := []RemoteWrite{
		{URL: "https://one.example.org/api/v1/write"},
		{URL: "https://two.example.org/a", CAFile: "ca.pem", Headers: map[string]string{"X-Scope-OrgID": "pathwise"}, User: "me", Password: "p"},
		{URL: "https://two.example.org/b", TokenFile: "t"},
		{Name: "third", URL: "https://one.example.org/b"},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var labels []string
	for i := range all {
		labels = append(labels, all[i].Label(all))
	}
	if diff := cmp.Diff([]string{"one.example.org", "https://two.example.org/a", "https://two.example.org/b", "third"}, labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}
