package accuracy

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// cause is something that is wrong with a path, a host or a program, or a kind of path with which nothing is wrong.
type cause struct {
	name     string
	sort     Sort
	expect   []Expected // of two faults: both
	controls []string
	seen     []fixed // samples that come before those that are drawn
	// strength draws how strong the fault is, false: it would not bind on this path, by its model. It may set the path's queue.
	strength func(r *rand.Rand, p *Path) (float64, bool)
	fault    func(p *Path, strength float64) fault
}

// fixed is a path and a strength that once came out wrong.
type fixed struct {
	Path
	strength float64
}

// fault is what the lab is made of, beside a path of three links from a over r and s to b, and what is done in it.
type fault struct {
	says   string
	leaves float64 // goodput in bit/s by the fault's model

	hosts    map[string]string // YAML of each, over wideHost
	routers  string            // YAML; default: [r, s]
	gate     string            // the router next to a; default: r
	access   string            // further YAML of the link next to a, such as "mtu: 600B"; its rate is accessRate unless it is here
	narrow   string            // of the link between r and s
	far      string            // of the link next to b
	links    []string          // more of them
	traffic  string            // YAML of cross traffic that the emulator sends itself
	timeline string            // YAML of what changes by itself

	before  []string // steps before anything is measured
	set     []Change // makes the fault
	fresh   bool     // the responder starts anew then: what it listens with has its buffers from its own beginning
	start   []string // steps once it is made
	args    []string // of diagnose
	target  string   // of diagnose; default: b
	mend    []Change
	from    string   // who measures without the fault; default: a
	without []string // what is measured without it, default: a transfer
	with    []string // what is measured with it, default: the diagnosis's transfer
	always  bool     // it binds by what it is
	lasts   bool     // nothing takes it out of a lab that runs
}

// binding says by what it shows that the fault binds.
func (f *fault) binding(s Sort) Binding {
	switch {
	case f.always || s == Healthy && f.set == nil:
		return Always
	case f.with != nil:
		return ByTime
	}
	return ByRate
}

const (
	// accessRate is the rate of the hosts' own links in bit/s, or twice the narrowest link's.
	accessRate = 1e9
	// accessShare is the share of the delay that each of them has.
	accessShare = 0.05
	// offloadFrom is the rate in bit/s from which on hosts hand over super-packets, as their adapters do there.
	offloadFrom = 2e8
	// wideHost has buffers for twice the product of 1 Gbit/s and 200 ms.
	wideHost = `{sysctl: {net.ipv4.tcp_rmem: "4096 131072 134217728", net.ipv4.tcp_wmem: "4096 16384 134217728"}}`
	// transferSeconds is how long a transfer without the fault lasts: a diagnosis's ends then or before, where it has seen enough.
	transferSeconds = 4
)

// render writes the case file of a sample.
func (f *fault) render(s *Sample) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("name: %s\ntitle: '%s: %s'\nfinding: %s", s.Name, s.Cause, s.Says, s.Expect[0].Finding)
	if len(s.Expect[0].Family) > 0 {
		line("family: [%s]", strings.Join(s.Expect[0].Family, ", "))
	}
	line("cause: '%s'\ncondition: 'Drawn on %s.'", s.Says, s.Path.Stratum())
	f.renderLab(&s.Path, s.Seed, line)
	line("steps:")
	steps := f.before
	if f.target == "" {
		steps = append([]string{"exec: {on: b, run: [pathwise, respond], background: true, ready: answering, as: responder}"}, steps...)
	}
	if s.Binds != Always {
		steps = append(steps, measureStep(or(f.from, "a"), "without", or3(f.without, transfer(&s.Path, transferSeconds))))
	}
	for i := range f.set {
		steps = append(steps, f.set[i].step())
	}
	if f.fresh {
		steps = append(steps, "stop: responder", "exec: {on: b, run: [pathwise, respond], background: true, ready: answering}")
	}
	steps = append(steps, f.start...)
	if s.Binds == ByTime {
		steps = append(steps, measureStep("a", "with", f.with))
	}
	args := append([]string{or(f.target, "b")}, f.args...)
	steps = append(steps, fmt.Sprintf("diagnose: {on: a, run: [%s]}", words(append(args, "--cc", s.Path.Control))))
	for _, step := range steps {
		line("  - %s", step)
	}
	return b.String()
}

func (f *fault) renderLab(p *Path, seed uint64, line func(string, ...any)) {
	hosts := map[string]string{"a": wideHost, "b": wideHost}
	maps.Copy(hosts, f.hosts)
	line("lab:\n  seed: %d\n  offload: %v\n  hosts:", seed, p.Rate >= offloadFrom)
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		line("    %s: %s", name, hosts[name])
	}
	access := func(more string) string {
		if !strings.Contains(more, "rate:") {
			more = joined(fmt.Sprintf("rate: %s", kbit(max(accessRate, 2*p.Rate))), more)
		}
		return joined(fmt.Sprintf("delay: %s", millis(accessShare*p.RTT)), more)
	}
	line("  routers: %s\n  links:", or(f.routers, "[r, s]"))
	line("    - {between: [a, %s], %s}", or(f.gate, "r"), access(f.access))
	line("    - {between: [r, s], %s}", joined(fmt.Sprintf("rate: %s, delay: %s, queue: %.0fB", kbit(p.Rate),
		millis((0.5-2*accessShare)*p.RTT), p.Queue), f.narrow))
	line("    - {between: [s, b], %s}", access(f.far))
	for _, more := range f.links {
		line("    - {%s}", more)
	}
	if f.traffic != "" {
		line("  traffic: %s", f.traffic)
	}
	if f.timeline != "" {
		line("  timeline: %s", f.timeline)
	}
}

// transfer is a transfer as those of a diagnosis are, as words of pathwise: what a fault and an advice are held against.
func transfer(p *Path, seconds float64) []string {
	return []string{"throughput", "b", "-t", fmt.Sprintf("%.1fs", seconds), "--cc", p.Control, "--len", "32k", "--event-loop"}
}

func measureStep(on, as string, run []string) string {
	return fmt.Sprintf("measure: {on: %s, run: [%s], as: %s}", on, words(run), as)
}

// step is a change as a step of a case.
func (c *Change) step() string {
	if c.Host != "" {
		return fmt.Sprintf("set: {host: %s, sysctl: {%s: %q}}", c.Host, c.Key, c.Value)
	}
	key, value, _ := strings.Cut(c.Setting, "=")
	set := key + ": " + value
	if way, name, one := strings.Cut(key, "."); one {
		set = fmt.Sprintf("%s: {%s: %s}", way, name, value)
	}
	return fmt.Sprintf("set: {between: [%s], %s}", strings.Join(c.Between, ", "), set)
}

// words are a command line as a list of YAML.
func words(all []string) string {
	quoted := make([]string, len(all))
	for i, w := range all {
		quoted[i] = "'" + w + "'"
	}
	return strings.Join(quoted, ", ")
}

func joined(a, b string) string {
	if b == "" {
		return a
	}
	return a + ", " + b
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

func or3(a, b []string) []string {
	if a == nil {
		return b
	}
	return a
}

func kbit(rate float64) string { return fmt.Sprintf("%.0fkbit", rate/1e3) }

func millis(seconds float64) string { return fmt.Sprintf("%.3fms", 1e3*seconds) }

func percent(ratio float64) string { return fmt.Sprintf("%.3g%%", 100*ratio) }

// whole rounds a size to whole kilobytes of 1024, so that plans can be read.
func whole(bytes float64) float64 { return math.Round(bytes/1024) * 1024 }
