package twin

import (
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// flag is how a parameter of a Result is said on the command line.
type flag struct {
	parameter, name string
	form            func(float64) string
}

func whole(v float64) string { return strconv.FormatInt(int64(v), 10) }
func rate(v float64) string  { return whole(v) + "bit" }
func size(v float64) string  { return whole(v) + "B" }
func span(v float64) string  { return time.Duration(v * float64(time.Second)).String() }

var flags = map[string][]flag{
	"ping": {{"count", "--count", whole}, {"interval", "--interval", span}, {"size", "--size", whole},
		{"timeout", "--timeout", span}, {"dscp", "--dscp", whole}, {"ttl", "--ttl", whole}},
	"trace": {{"max-ttl", "--max-ttl", whole}, {"queries", "--queries", whole}, {"timeout", "--timeout", span}},
	"throughput": {{"duration", "--time", span}, {"bytes", "--bytes", size}, {"window", "--window", size},
		{"length", "--len", size}, {"rate", "--rate", rate}, {"dscp", "--dscp", whole},
		{"mss", "--mss", whole}, {"parallel", "--parallel", whole}},
}

// switches are parameters that are true or false.
var switches = map[string][][2]string{
	"ping":       {{"df", "--df"}, {"poisson", "--poisson"}},
	"throughput": {{"reverse", "--reverse"}, {"bidir", "--bidir"}, {"nodelay", "--nodelay"}},
}

// arguments are those that measure a target as a Result was measured.
func arguments(r *measure.Result, target string) []string {
	argv := []string{r.Kind, target, "--json"}
	for _, f := range flags[r.Kind] {
		if v, _ := r.Number(f.parameter); v > 0 {
			argv = append(argv, f.name, f.form(v))
		}
	}
	for _, s := range switches[r.Kind] {
		if r.Parameters[s[0]] == true {
			argv = append(argv, s[1])
		}
	}
	if r.Kind != "throughput" {
		return argv
	}
	if r.Parameters["proto"] == "udp" {
		return append(argv, "--proto", "udp")
	}
	if cc := congestion(r); cc != "" {
		argv = append(argv, "--cc", cc)
	}
	return argv
}

// congestion is what was asked for, or else what the sender had.
func congestion(r *measure.Result) string {
	if cc, _ := r.Parameters["cc"].(string); cc != "" {
		return cc
	}
	for _, way := range []string{measure.Forward, measure.Reverse} {
		if end := r.Samples.Find(way, measure.Sender); end != nil {
			return end.CongestionControl
		}
	}
	return ""
}
