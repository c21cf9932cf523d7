package lab

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/queue"
)

func TestParseSpec(t *testing.T) {
	got := mustParse(t, `
seed: 7
hosts:
  ucl:  {}
  cern: {sysctl: {net.ipv4.tcp_rmem: "4096 87380 131072"}}
routers: [london, geneva]
links:
  - {between: [ucl, london],    rate: 1gbit}
  - {between: [london, geneva], rate: 622mbit, delay: 12ms, loss: 0.01%, queue: 500p}
  - {between: [geneva, cern],   rate: 1gbit, queue: 250kB, forward: {loss: 0.1%}}
`)
	want := &Spec{
		Seed:    7,
		Hosts:   map[string]Host{"ucl": {}, "cern": {Sysctl: map[string]string{"net.ipv4.tcp_rmem": "4096 87380 131072"}}},
		Routers: Routers{{Name: "london"}, {Name: "geneva"}},
		Links: []Link{
			{Between: []string{"ucl", "london"}, Shape: Shape{Rate: ptr(Rate(1e9))}},
			{Between: []string{"london", "geneva"}, Shape: Shape{Rate: ptr(Rate(622e6)), Delay: ptr(Delay(12 * time.Millisecond)),
				Loss: chance.Independent(0.0001), Queue: mustQueue(t, "500p")}},
			{Between: []string{"geneva", "cern"}, Shape: Shape{Rate: ptr(Rate(1e9)), Queue: mustQueue(t, "250kB")},
				Forward: &Shape{Loss: chance.Independent(0.001)}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ParseSpec (-want +got):\n%s", diff)
	}
}

// Files that links, rules and changes name are found beside the lab file.
func TestParseSpecReadsFiles(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "cell.trace"), []byte("1\n5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ParseSpec(filepath.Join(folder, "lab.yaml"), []byte(`
hosts: {a: {}, b: {}}
links: [{between: [a, b], jitter: {table_file: cell.trace}, forward: {trace: cell.trace}, rules: [{trace: cell.trace}]}]
timeline: [{at: 1s, between: [a, b], reverse: {trace: cell.trace}}]
`))
	if err != nil {
		t.Fatal(err)
	}
	trace := &link.Trace{File: "cell.trace", Opportunities: []int64{1, 5}}
	between := []string{"a", "b"}
	want := &Spec{
		Hosts: map[string]Host{"a": {}, "b": {}},
		Links: []Link{{Between: between, Forward: &Shape{Trace: trace}, Shape: Shape{
			Jitter: &chance.Jitter{TableFile: "cell.trace", Table: []Delay{1e6, 5e6}}, Rules: &link.Rules{{Shape: Shape{Trace: trace}}}}}},
		Timeline: []Change{{At: notation.Span(time.Second), Between: between, Reverse: &Shape{Trace: trace}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func mustQueue(t *testing.T, text string) *queue.Config {
	t.Helper()
	forward, _, err := link.ParseSetting("queue=" + text)
	if err != nil {
		t.Fatal(err)
	}
	return forward.Queue
}

// Every fault is one line that says where it is, which value, and what would be right.
func TestParseSpecFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "hosts: {a: {}, b: {}}\nlinks:\n  - {between: [a, b], speed: 1gbit}\n",
			`x.yaml:3:23: unknown field "speed"`},
		{"misspelt key", "hosts: {a: {}, b: {}}\nlinks:\n  - {between: [a, b], forward: {dealy: 1ms}}\n",
			`x.yaml:3:33: unknown field "dealy"; did you mean delay?`},
		{"negative rate", "hosts: {a: {}, b: {}}\nlinks:\n  - {between: [a, b], rate: -1mbit}\n",
			`x.yaml:3:29: rate: "-1mbit": want a positive rate such as 100mbit or 1.5gbit`},
		{"loss above 1", "hosts: {a: {}, b: {}}\nlinks:\n  - {between: [a, b], loss: 150%}\n",
			`x.yaml:3:29: loss: "150%": want a ratio from 0 to 1, or 0% to 100%, such as 0.0001 or 0.01%`},
		{"queue of nothing", "hosts: {a: {}, b: {}}\nlinks:\n  - {between: [a, b], queue: 0p}\n",
			`x.yaml:3:30: queue: "0p": want packets such as 500p, a size such as 250kB, or a time such as 100ms`},
		{"delay too long", "hosts: {a: {}, b: {}}\nlinks:\n  - {between: [a, b], forward: {delay: 2h}}\n",
			`x.yaml:3:40: delay: "2h": want at most 1h`},
		{"unknown node", "hosts: {a: {}}\nlinks:\n  - {between: [a, b]}\n",
			`x.yaml:3:5: links: number 1: between: "b": no such host or router; name it under hosts or routers`},
		{"route of a host", "hosts: {a: {}, b: {}}\nlinks:\n  - {between: [a, b]}\ntimeline:\n  - {at: 1s, route: {at: a, to: b, via: b}}\n",
			`x.yaml:5:5: timeline: number 1: route: at: "a": is a host; its routes are its kernel's`},
		{"one end", "hosts: {a: {}}\nlinks:\n  - {between: [a]}\n",
			`x.yaml:3:5: links: number 1: between: 1 nodes; want two, such as [a, b]`},
		{"twice the same", "hosts: {a: {}}\nlinks:\n  - {between: [a, a]}\n",
			`x.yaml:3:5: links: number 1: between: "a" twice; a link joins two nodes`},
		{"host and router", "hosts: {a: {}}\nrouters: [a]\n", `x.yaml:2:10: routers: "a": is a host already; give it another name`},
		{"sysctl outside net", "hosts: {a: {sysctl: {kernel.hostname: x}}}\n",
			`x.yaml:1:12: hosts: a: sysctl: "kernel.hostname": want a name below net, such as net.ipv4.tcp_rmem`},
		{"sysctl upwards", "hosts: {a: {sysctl: {net./../kernel: x}}}\n",
			`x.yaml:1:12: hosts: a: sysctl: "net./../kernel": want a name below net, such as net.ipv4.tcp_rmem`},
		{"a clock of days", "hosts: {a: {clock: 30h}}\n",
			`x.yaml:1:12: hosts: a: clock: 30h0m0s: want the most that it may be off, 1h at most, such as 100us`},
		{"no host", "seed: 1\n", "x.yaml:1:1: hosts: none; name at least one, such as `hosts: {a: {}}`"},
		{"NAT to nowhere", "hosts: {a: {}}\nrouters:\n  r: {nat: {outside: b}}\nlinks:\n  - {between: [a, r]}\n",
			`x.yaml:3:6: routers: r: nat: outside: "b": want a neighbour of this router`},
		{"traffic without a way", "hosts: {a: {}, b: {}}\ntraffic:\n  - {from: a, to: b, kind: constant, rate: 1mbit}\n",
			`x.yaml:3:5: traffic: number 1: no way from a to b`},
		{"a broadcast beyond a router", "hosts: {a: {}, b: {}}\nrouters: [r]\nlinks: [{between: [a, r]}, {between: [r, b]}]\ntraffic:\n" +
			"  - {from: a, to: b, kind: constant, rate: 1mbit, broadcast: true}\n",
			`x.yaml:5:5: traffic: number 1: to: "b": broadcasts end at a router; want a neighbour of a`},
		{"a change that cannot be", "hosts: {a: {}, b: {}}\nlinks:\n  - {between: [a, b]}\ntimeline:\n  - {at: 1s, between: [a, b], duplex: half}\n",
			"x.yaml:5:5: timeline: number 1: duplex: half: needs a rate, such as `rate: 10mbit`"},
		{"strange name", "hosts: {'a b': {}}\n", `x.yaml:1:8: hosts: "a b": want letters, digits and inner hyphens, 63 at most`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseSpec("x.yaml", []byte(c.text))
			var bad *SpecError
			if !errors.As(err, &bad) {
				t.Fatalf("error %v is not a *SpecError", err)
			}
			if bad.Error() != c.want {
				t.Errorf("got  %s\nwant %s", bad.Error(), c.want)
			}
		})
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add([]byte(bobAndCarol))
	f.Add([]byte("hosts: {a: {sysctl: {net.x: 1}}}\nlinks: [{between: [a, a], rate: 1, loss: 1}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		spec, err := ParseSpec("fuzz.yaml", text)
		if err != nil {
			var bad *SpecError
			if !errors.As(err, &bad) {
				t.Fatalf("%v is not a *SpecError", err)
			}
			return
		}
		if _, err := NewNetwork(NewPlan(spec), nil); err != nil && !errors.As(err, new(*SpecError)) {
			t.Fatalf("%v is not a *SpecError", err)
		}
	})
}
