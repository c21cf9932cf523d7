package psconfig

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// tool is a test of a template: what a mesh file calls a tool.
type tool struct {
	name   string
	family int
	every  time.Duration // of a test without an end: how often a sample of it is taken; 0: it has one
}

// parameter is how one key of a test's specification becomes a parameter of a probe.
type parameter struct {
	theirs, ours string
	turn         func(v any) (any, bool)
}

// specifications are the tests that have a probe here, and their parameters in the order in which they are written.
var specifications = map[string]struct {
	probe      string
	parameters []parameter
}{
	"throughput": {"throughput", []parameter{
		{"udp", "proto", udp}, {"duration", "duration", isoTime}, {"parallel", "parallel", count},
		{"bandwidth", "rate", bitRate}, {"window-size", "window", count}, {"buffer-length", "length", count}, {"mss", "mss", count},
		{"congestion", "cc", word}, {"no-delay", "nodelay", yes}, {"reverse", "reverse", yes}, {"ip-tos", "dscp", tos},
		{"single-ended-port", "port", count},
	}},
	"rtt": {"ping", []parameter{
		{"protocol", "proto", only("icmp")}, {"count", "count", count}, {"interval", "interval", isoTime}, {"length", "size", count},
		{"ttl", "ttl", count},
		{"timeout", "timeout", isoTime}, {"ip-tos", "dscp", tos}, {"fragment", "df", not},
	}},
	"trace": {"trace", []parameter{
		{"probe-type", "proto", only("udp")}, {"hops", "max-ttl", count}, {"queries", "queries", count}, {"wait", "timeout", isoTime},
		{"dest-port", "port", count},
	}},
	"latency": {"ping", []parameter{
		{"packet-count", "count", count}, {"packet-interval", "interval", secondsTime}, {"packet-timeout", "timeout", secondsTime},
		{"packet-padding", "size", padded}, {"ip-tos", "dscp", tos},
	}},
}

// What pScheduler's latency tests send if their specification does not say.
const (
	latencyCount    = 100
	latencybgCount  = 600
	latencyInterval = 0.1 // seconds
	owampHeader     = 14  // bytes of an OWAMP test packet before its padding (RFC 4656, 4.1.2)
)

// tests reads tests: each becomes a tool.
func (i *importer) tests(root *object) {
	tests := root.child("tests")
	for _, name := range tests.keys() {
		o := tests.child(name)
		kind := o.text("type")
		spec := o.child("spec")
		known, ok := specifications[strings.TrimSuffix(kind, "bg")]
		if !ok || kind != "latencybg" && strings.HasSuffix(kind, "bg") {
			i.note(o.path, "there is no probe for tests of type %q yet: %s", kind, notCarried)
			continue
		}
		var parameters []pair
		if strings.HasPrefix(kind, "latency") {
			i.note(o.path, "one-way latency is not measured yet: round trips stand in for it")
			parameters = latencyDefaults(kind, spec)
		}
		for _, p := range known.parameters {
			parameters = i.parameter(spec, p, parameters)
		}
		t := tool{name: i.name("tools", name), family: i.ends(spec)}
		if kind == "latencybg" {
			t.every = i.background(o, spec)
		}
		spec.close()
		o.close()
		i.tools[name] = t
		fields := []pair{{"probe", known.probe}}
		if len(parameters) > 0 {
			fields = append(fields, pair{"parameters", parameters})
		}
		i.out["tools"] = append(i.out["tools"], pair{t.name, fields})
	}
}

// parameter adds a parameter if the specification has it.
func (i *importer) parameter(spec *object, p parameter, all []pair) []pair {
	if spec.fields[p.theirs] == nil {
		return all
	}
	v, ok := p.turn(spec.take(p.theirs))
	switch {
	case !ok:
		i.note(spec.at(p.theirs), "%v has no counterpart in %s: %s", spec.fields[p.theirs], p.ours, notCarried)
	case v != nil:
		all = append(all, pair{p.ours, v})
	}
	return all
}

// groupEnd is how a specification names a host of the group: in templates of today, and of pSConfig 4.0.
var groupEnd = regexp.MustCompile(`^(?:\{% *address\[(\d)\] *%\}|\$group::(\d))$`)

// ends reads what a specification says of source and target beyond the group.
func (i *importer) ends(spec *object) (family int) {
	for n, key := range []string{"source", "dest"} {
		text := spec.text(key)
		m := groupEnd.FindStringSubmatch(text)
		if text != "" && (m == nil || m[1]+m[2] != strconv.Itoa(n)) {
			i.note(spec.at(key), "%q is not the group's own: the mesh file tests from the first host to the second", text)
		}
	}
	spec.take("schema")
	if v, ok := spec.take("ip-version").(float64); ok && (v == 4 || v == 6) {
		family = int(v)
	}
	return family
}

// latencyDefaults are parameters of a latency test that its specification leaves out.
func latencyDefaults(kind string, spec *object) (all []pair) {
	if spec.fields["packet-count"] == nil {
		all = append(all, pair{"count", map[string]int{"latency": latencyCount, "latencybg": latencybgCount}[kind]})
	}
	if spec.fields["packet-interval"] == nil {
		all = append(all, pair{"interval", shortTime(time.Duration(latencyInterval * float64(time.Second)))})
	}
	return append(all, pair{"poisson", true}) // as OWAMP sends
}

// background returns how often a sample of an endless test is taken: it then runs half of the time.
func (i *importer) background(o, spec *object) time.Duration {
	packets, ok := spec.fields["packet-count"].(float64)
	if !ok {
		packets = latencybgCount
	}
	interval, ok := spec.fields["packet-interval"].(float64)
	if !ok {
		interval = latencyInterval
	}
	seconds := math.Min(math.Max(math.Ceil(2*packets*interval), 10), (24 * time.Hour).Seconds())
	every := time.Duration(seconds) * time.Second
	i.note(o.path, "does not end in pSConfig; here %.0f packets are sent every %s", packets, shortTime(every))
	return every
}
