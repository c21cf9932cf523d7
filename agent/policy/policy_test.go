package policy

import (
	"errors"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/respond"
)

const example = `
ports: 5201-5210
spool: 2GB
limits: {memory: 48MB, cpus: 1, light: 64, programs: {memory: 200MB, cpu: 1m, files: 64, nice: 10}}
classes:
  everyone: {duration: 1m, daily_bytes: 10GB}
  guests: {parent: everyone, kinds: [ping, trace], opens: [], rate: 1mbit, hours: ["Mon-Fri 22:00-06:00", Sunday]}
  partners: {parent: everyone, programs: /usr/bin/bbcp, parallel: 2}
  closed: {kinds: [], opens: []}
  alone: {}
assign:
  - {class: alone, networks: [203.0.113.0/24]}
  - {class: partners, hosts: [cern, ral], networks: ["2001:db8::/32"]}
  - {class: closed, networks: [192.0.2.0/24]}
  - {class: partners, networks: [192.0.2.128/25]}
default: guests
`

func parse(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := Parse("agent.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParse(t *testing.T) {
	one := Count(1)
	hours := func(text string) Hours {
		h, err := ParseHours(text)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	want := &Policy{Ports: Ports{5201, 5210}, Spool: 2e9,
		Limits: Limits{Memory: 48e6, CPUs: one, Light: 64,
			Program: Child{Memory: 200e6, CPU: Span(time.Minute), Files: 64, Nice: 10}},
		Classes: map[string]Class{
			"everyone": {Duration: Span(time.Minute), Daily: 10e9},
			"guests": {Parent: "everyone", Kinds: &Names{"ping", "trace"}, Opens: &Names{}, Rate: 1e6,
				Hours: []Hours{hours("Mon-Fri 22:00-06:00"), hours("Sun")}},
			"partners": {Parent: "everyone", Programs: Names{"/usr/bin/bbcp"}, Parallel: 2},
			"closed":   {Kinds: &Names{}, Opens: &Names{}},
			"alone":    {},
		},
		Assign: []Assignment{
			{Class: "alone", Networks: []Network{Network(netip.MustParsePrefix("203.0.113.0/24"))}},
			{Class: "partners", Hosts: Names{"cern", "ral"}, Networks: []Network{Network(netip.MustParsePrefix("2001:db8::/32"))}},
			{Class: "closed", Networks: []Network{Network(netip.MustParsePrefix("192.0.2.0/24"))}},
			{Class: "partners", Networks: []Network{Network(netip.MustParsePrefix("192.0.2.128/25"))}},
		},
		Default: "guests"}
	compare := cmp.Options{cmp.AllowUnexported(Hours{}), cmp.Transformer("prefix", func(n Network) string { return netip.Prefix(n).String() })}
	if diff := cmp.Diff(want, parse(t, example), compare); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Default(), parse(t, ""), compare); diff != "" {
		t.Errorf("an empty file is not the default:\n%s", diff)
	}
	if diff := cmp.Diff(Limits{Memory: 64e6, CPUs: 2, Light: 512,
		Program: Child{Memory: 1e9, CPU: Span(10 * time.Minute), Files: 256, Nice: 5}}, Default().Bounds()); diff != "" {
		t.Error(diff)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"class: {}":                                                                    `agent.yaml:1:1: unknown field "class"`,
		"classes:\n  a: {speed: 1}\ndefault: a":                                        `agent.yaml:2:7: unknown field "speed"`,
		"ports: 70000":                                                                 `agent.yaml:1:8: ports: "70000": want a port or ports such as 5201-5299`,
		"ports: [1]":                                                                   `agent.yaml:1:8: ports: want one value, not a list`,
		"limits: {light: 0}":                                                           `agent.yaml:1:17: light: "0": want a whole number from 1 on`,
		"limits: {programs: {nice: 20}}":                                               `agent.yaml:1:27: limits.programs.nice: 20: want 1 to 19`,
		"classes: {a: {}}":                                                             `agent.yaml:1:1: default: "": want one of the classes: a`,
		"classes: {a: {}}\ndefault: b":                                                 `agent.yaml:2:10: default: "b": want one of the classes: a`,
		"classes: {a: {parent: b}}\ndefault: a":                                        `agent.yaml:1:23: classes.a.parent: "b": want one of the classes: a`,
		"classes: {a: {programs: x}}\ndefault: a":                                      `agent.yaml:1:25: classes.a.programs: "x": want an absolute path, such as /usr/bin/bbcp`,
		"classes: {a: {opens: [command, iperf]}}\ndefault: a":                          `agent.yaml:1:22: classes.a.opens: "iperf": want iperf3, transact, flows, ndt7, owamp, twamp, stamp, command; did you mean iperf3?`,
		"classes: {a: {parent: b}, b: {parent: a}}\ndefault: a":                        `agent.yaml:1:23: classes.a.parent: "b": the parents go round in a circle`,
		"classes: {a: {rate: fast}}\ndefault: a":                                       `agent.yaml:1:21: rate: "fast": want a positive rate such as 100mbit`,
		"classes: {a: {hours: [Mon 8-9]}}\ndefault: a":                                 `agent.yaml:1:23: hours: "Mon 8-9": want hours such as Mon-Fri 08:00-18:00, 22:00-06:00 or Sat,Sun`,
		"classes: {a: {}}\ndefault: a\nassign: [{class: b, hosts: x}]":                 `agent.yaml:3:18: assign[0].class: "b": want one of the classes: a`,
		"classes: {a: {}}\ndefault: a\nassign: [{class: a}]":                           `agent.yaml:3:10: assign[0]: want hosts, networks or both`,
		"classes: {a: {}}\ndefault: a\nassign: [{class: a, hosts: [x, x]}]":            `agent.yaml:3:10: assign[0]: "x": assigned twice`,
		"classes: {a: {}}\ndefault: a\nassign: [{class: a, networks: [192.0.2.1/24]}]": `agent.yaml:3:32: networks: "192.0.2.1/24": bits behind the prefix are set; want 192.0.2.0/24`,
	} {
		_, err := Parse("agent.yaml", []byte(text))
		var bad *document.Error
		if !errors.As(err, &bad) || !bad.BadInput() || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestClassOf(t *testing.T) {
	p := parse(t, example)
	for _, test := range []struct{ host, address, class string }{
		{"cern", "192.0.2.5", "partners"}, // the name before the network
		{"x", "192.0.2.5", "closed"},
		{"x", "192.0.2.200", "partners"}, // the longer prefix
		{"x", "::ffff:192.0.2.200", "partners"},
		{"x", "2001:db8::1", "partners"},
		{"x", "198.51.100.1", "guests"},
		{"x", "", "guests"},
	} {
		address, _ := netip.ParseAddr(test.address)
		if got := p.ClassOf(test.host, address); got != test.class {
			t.Errorf("%s at %q is of class %s, want %s", test.host, test.address, got, test.class)
		}
	}
}

func TestDecide(t *testing.T) {
	p := parse(t, example)
	sunday := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	partner := Request{Host: "cern", At: sunday.AddDate(0, 0, 1), Kind: "throughput", Exclusive: true, Duration: 31 * time.Second}
	guest := Request{Host: "x", At: sunday, Kind: "ping", Rate: 672, Duration: 12 * time.Second}
	open := Request{Host: "ral", At: sunday, Open: "iperf3", Port: 5201, Duration: time.Minute}
	server := Request{Host: "ral", At: sunday, Open: "command", Port: 5201, Program: "/usr/bin/bbcp"}
	with := func(r Request, change func(*Request)) Request { change(&r); return r }
	for name, test := range map[string]struct {
		r    Request
		u    map[string]float64
		want string
	}{
		"guest":              {r: guest},
		"at night":           {r: with(guest, func(r *Request) { r.At = sunday.Add(11 * time.Hour) })},
		"after midnight":     {r: with(guest, func(r *Request) { r.At = sunday.Add(41 * time.Hour) })},
		"by day":             {r: with(guest, func(r *Request) { r.At = sunday.Add(24 * time.Hour) }), want: "class guests: hours: not at Mon 12:00"},
		"kind":               {r: with(guest, func(r *Request) { r.Kind = "throughput" }), want: "class guests: kinds: only ping, trace, not throughput"},
		"rate":               {r: with(guest, func(r *Request) { r.Rate = 2e6 }), want: "class guests: rate: at most 1.00 Mbit/s, not 2.00 Mbit/s"},
		"unbounded rate":     {r: with(guest, func(r *Request) { r.Rate, r.Exclusive = 0, true }), want: "class guests: rate: at most 1.00 Mbit/s, not as fast as the path carries"},
		"guest as a target":  {r: with(open, func(r *Request) { r.Host = "x" }), want: "class guests: opens: none, so not iperf3"},
		"network":            {r: with(guest, func(r *Request) { r.Address = netip.MustParseAddr("192.0.2.1") }), want: "class closed: kinds: none, so not ping"},
		"partner":            {r: partner},
		"parent's duration":  {r: with(partner, func(r *Request) { r.Duration = 63 * time.Second }), want: "class everyone: duration: at most 1m0s, not 1m3s"},
		"bytes":              {r: with(partner, func(r *Request) { r.Bytes = 2e9 }), u: map[string]float64{"everyone": 9e9}, want: "class everyone: daily_bytes: 10.0 GB a day, of which 9.00 GB are taken, so not 2.00 GB more"},
		"unknown bytes":      {r: partner, u: map[string]float64{"everyone": 1e10 - 1}},
		"no bytes left":      {r: partner, u: map[string]float64{"everyone": 1e10}, want: "class everyone: daily_bytes: all 10.0 GB of today are taken"},
		"program":            {r: with(partner, func(r *Request) { r.Kind, r.Program = "command", "/usr/bin/bbcp" })},
		"another program":    {r: with(partner, func(r *Request) { r.Kind, r.Program = "command", "/bin/sh" }), want: "class partners: programs: only /usr/bin/bbcp, not /bin/sh"},
		"listener":           {r: open},
		"listener's port":    {r: with(open, func(r *Request) { r.Port = 22 }), want: "ports: 5201-5210 may be opened, not 22"},
		"server":             {r: with(server, func(*Request) {})},
		"server, no port":    {r: with(server, func(r *Request) { r.Port = 0 })},
		"server's port":      {r: with(server, func(r *Request) { r.Port = 22 }), want: "ports: 5201-5210 may be opened, not 22"},
		"another server":     {r: with(server, func(r *Request) { r.Program = "/bin/sh" }), want: "class partners: programs: only /usr/bin/bbcp, not /bin/sh"},
		"server for guests":  {r: with(server, func(r *Request) { r.Host = "x" }), want: "class guests: opens: none, so not command"},
		"server for alone":   {r: with(server, func(r *Request) { r.Host, r.Address = "y", netip.MustParseAddr("203.0.113.1") }), want: "class alone: no external programs, so not /usr/bin/bbcp"},
		"listener, too long": {r: with(open, func(r *Request) { r.Duration = time.Hour }), want: "class everyone: duration: at most 1m0s, not 1h0m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			allowed, why := p.Decide(test.r, test.u)
			if why != test.want || allowed != (test.want == "") {
				t.Errorf("%v, %q; want %q", allowed, why, test.want)
			}
		})
	}
	if allowed, why := Default().Decide(with(partner, func(r *Request) { r.Program = "/bin/sh" }), nil); allowed || why == "" {
		t.Error("without a policy file, a program may run")
	}
	if allowed, why := Default().Decide(with(open, func(r *Request) { r.Duration = time.Hour }), nil); !allowed {
		t.Error(why)
	}
}

func TestRoom(t *testing.T) {
	p := parse(t, example+"\n")
	for _, test := range []struct {
		class   string
		filling map[string]int
		want    string
	}{
		{"partners", map[string]int{"partners": 1, "everyone": 5}, ""},
		{"partners", map[string]int{"partners": 2}, "class partners: parallel: at most 2 runs that fill a link"},
		{"alone", map[string]int{"partners": 2}, ""},
		{"alone", map[string]int{"alone": 1}, "class alone: parallel: one run that fills a link at a time"},
	} {
		if room, why := p.Room(test.class, test.filling); why != test.want || room != (why == "") {
			t.Errorf("%s beside %v: %v, %q; want %q", test.class, test.filling, room, why, test.want)
		}
	}
}

func TestWhatNobodyMay(t *testing.T) {
	p := parse(t, "classes: {a: {kinds: ping}, b: {parent: a, kinds: [ping, trace], opens: [], programs: [/b, /a]}}\n"+
		"assign: [{class: b, hosts: x}]\ndefault: b")
	got := []bool{p.AllowsKind("ping"), p.AllowsKind("trace"), p.AllowsOpening("iperf3"), Default().AllowsOpening("iperf3")}
	if diff := cmp.Diff([]bool{true, false, false, true}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/a", "/b"}, p.AllPrograms()); diff != "" {
		t.Error(diff)
	}
}

// TestPage keeps docs/agent.md true: its example can be read, uses every key, and its table names every key.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/agent.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml agent.yaml\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("docs/agent.md has no example of agent.yaml")
	}
	p := parse(t, string(block[1]))
	if cmp.Equal(p, Default(), cmpopts.IgnoreUnexported(Hours{}, Network{})) {
		t.Error("the example says nothing")
	}
	if row := "| `opens` | what it opens for others: " + strings.Join(respond.Names(), ", ") + "; "; !strings.Contains(string(text), row) {
		t.Errorf("docs/agent.md lacks %s", row)
	}
	for _, key := range []string{"ports", "spool", "limits.memory", "limits.cpus", "limits.light", "limits.programs.memory",
		"limits.programs.cpu", "limits.programs.files", "limits.programs.nice", "parent", "kinds", "opens", "programs", "duration", "rate",
		"daily_bytes", "parallel", "hours", "class", "hosts", "networks", "default"} {
		if !strings.Contains(string(text), "| `"+key+"` |") {
			t.Errorf("the table in docs/agent.md lacks %s", key)
		}
		if last := key[strings.LastIndex(key, ".")+1:]; !strings.Contains(string(block[1]), last+":") {
			t.Errorf("the example in docs/agent.md lacks %s", key)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("classes: {a: {hours: [Sun-Mon 24:00-00:01]}}\ndefault: a"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Parse("agent.yaml", text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		p.Decide(Request{Host: "a", Kind: "ping", At: time.Now()}, nil)
	})
}
