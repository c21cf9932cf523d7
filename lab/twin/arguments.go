package twin

import (
	"strconv"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// repeated are the kinds of Results that a twin is compared by.
var repeated = []string{"ping", "trace", "throughput"}

// arguments are those that measure a target as a Result was measured: the parameters that it records, but for those of its own surroundings.
func arguments(r *measure.Result, target string) []string {
	argv := []string{r.Kind, target, "--json"}
	kind, _ := probe.KindOf(r.Kind)
	for _, p := range kind.Parameters {
		if p.Outward || p.Name == "family" || p.Name == "interval" && r.Kind == "throughput" { // which reports, and measures nothing
			continue
		}
		flag := "--" + p.Name
		if p.Flag != "" {
			flag = "--" + p.Flag
		}
		value := r.Parameters[p.Name]
		if p.Name == "cc" && r.Parameters["proto"] != "udp" {
			value = congestion(r)
		}
		number, isNumber := r.Number(p.Name)
		word, _ := value.(string)
		switch {
		case isNumber:
			argv = append(argv, flag, strconv.FormatFloat(number, 'f', -1, 64))
		case value == true:
			argv = append(argv, flag)
		case word != "":
			argv = append(argv, flag, word)
		}
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
