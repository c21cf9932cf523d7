package parse

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func compile(t *testing.T, rules ...Rule) *Parser {
	t.Helper()
	p, err := Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var close = cmpopts.EquateApprox(1e-9, 0)

// What real programs printed; see testdata/README.md. The same rules stand in docs/mesh-tools.md.
func TestPrograms(t *testing.T) {
	cases := []struct {
		file  string
		rules []Rule
		want  map[measure.Metric]float64
	}{
		{"iperf3.txt", []Rule{
			{Metric: measure.Throughput, Regex: `([\d.]+ \wbits/sec) .*receiver`},
			{Metric: measure.SentBytes, Regex: `sec +([\d.]+ \wBytes) .*sender`},
			{Metric: measure.Retransmits, Regex: `bits/sec +(\d+) +sender`},
		}, map[measure.Metric]float64{measure.Throughput: 4.43e6, measure.SentBytes: 1.65 * (1 << 20), measure.Retransmits: 20}},
		{"iperf3-parallel.txt", []Rule{
			{Metric: measure.Throughput, Regex: `^\[SUM\].* ([\d.]+ \wbits/sec) .*receiver`},
		}, map[measure.Metric]float64{measure.Throughput: 9.07e6}},
		{"iperf3.json", []Rule{
			{Metric: measure.Throughput, JSON: "$.end.sum_received.bits_per_second"},
			{Metric: measure.Retransmits, JSON: "$.end.sum_sent.retransmits"},
			{Metric: measure.CPUSender, JSON: "$.end.cpu_utilization_percent.host_total", Unit: "%"},
			{Metric: "rtt_last_seconds", JSON: "$.intervals[-1].streams[0].rtt", Unit: "us"},
		}, map[measure.Metric]float64{measure.Throughput: 3988081.2698479965, measure.Retransmits: 28,
			measure.CPUSender: 0.00858082018746322, "rtt_last_seconds": 0.022901}},
		{"iperf3-udp.txt", []Rule{
			{Metric: measure.Throughput, Regex: `([\d.]+ \wbits/sec) .*receiver`},
			{Metric: measure.Jitter, Regex: `([\d.]+ ms) .*receiver`},
			{Metric: measure.LossRatio, Regex: `\(([\d.e-]+%)\) +receiver`},
			{Metric: measure.LostPackets, Regex: `(\d+)/\d+ .*receiver`},
			{Metric: measure.SentPackets, Regex: `\d+/(\d+) .*receiver`},
		}, map[measure.Metric]float64{measure.Throughput: 4.83e6, measure.Jitter: 75e-6, measure.LossRatio: 0.028,
			measure.LostPackets: 36, measure.SentPackets: 1295}},
		{"iperf3-udp.json", []Rule{
			{Metric: measure.Jitter, JSON: "$.end.sum.jitter_ms", Unit: "ms"},
			{Metric: measure.LossRatio, JSON: "$.end.sum.lost_percent", Unit: "%"},
			{Metric: measure.LostPackets, JSON: "end.sum.lost_packets"},
		}, map[measure.Metric]float64{measure.Jitter: 0.0004283125574147508, measure.LossRatio: 23. / 1295, measure.LostPackets: 23}},
		{"ping.txt", []Rule{
			{Metric: measure.SentPackets, Regex: `(\d+) packets transmitted`},
			{Metric: measure.LossRatio, Regex: `([\d.]+%) packet loss`},
			{Metric: measure.RTTMin, Regex: `= (?P<value>[\d.]+)/[\d.]+/[\d.]+/[\d.]+ (?P<unit>\w+)`},
			{Metric: measure.RTTMean, Regex: `= [\d.]+/(?P<value>[\d.]+)/[\d.]+/[\d.]+ (?P<unit>\w+)`},
		}, map[measure.Metric]float64{measure.SentPackets: 40, measure.LossRatio: 0, measure.RTTMin: 0.020266, measure.RTTMean: 0.020449}},
		{"traceroute.txt", []Rule{
			{Metric: measure.HopCount, Regex: `^ *(\d+) `},
			{Metric: measure.RTTMin, Regex: `^ *\d+ +\S+ +([\d.]+ ms)`},
		}, map[measure.Metric]float64{measure.HopCount: 3, measure.RTTMin: 0.020134}},
		{"mtr.txt", []Rule{
			{Metric: measure.HopCount, Regex: `^ *(\d+)\.\|--`},
			{Metric: measure.LossRatio, Regex: `\|-- \S+ +([\d.]+%)`},
			{Metric: measure.RTTMean, Regex: `%(?: +[\d.]+){2} +([\d.]+)`, Unit: "ms"},
		}, map[measure.Metric]float64{measure.HopCount: 3, measure.LossRatio: 0, measure.RTTMean: 0.0204}},
		{"mtr.json", []Rule{
			{Metric: measure.HopCount, JSON: "$.report.hubs[-1].count"},
			{Metric: measure.LossRatio, JSON: "$.report.hubs[-1]['Loss%']", Unit: "%"},
			{Metric: measure.RTTMax, JSON: "$.report.hubs[?(@.host == '10.0.2.2')].Wrst", Unit: "ms"},
		}, map[measure.Metric]float64{measure.HopCount: 3, measure.LossRatio: 0, measure.RTTMax: 0.020491}},
		{"tcptrace.txt", []Rule{
			{Metric: measure.Throughput, Key: "throughput"},
			{Metric: measure.RTTMean, Key: "RTT avg"},
			{Metric: measure.Retransmits, Key: "rexmt data pkts"},
			{Metric: measure.RetransmittedBytes, Key: "rexmt data bytes"},
		}, map[measure.Metric]float64{measure.Throughput: 604597 * 8, measure.RTTMean: 0.0212, measure.Retransmits: 23,
			measure.RetransmittedBytes: 33304}},
		{"bbcp-documented.txt", []Rule{
			{Metric: measure.Throughput, Regex: `copied at effectively ([\d.]+ \w*B/s)`, Binary: true},
		}, map[measure.Metric]float64{measure.Throughput: 978 * (1 << 20) * 8}},
		{"pathload-documented.txt", []Rule{
			{Metric: measure.Available, Regex: `bandwidth (?:range :|is at (?:most|least)) *(?P<value>[\d.]+).*\((?P<unit>\w+)\)`},
			{Metric: "available_high_bits_per_second", Regex: `range : [\d.]+ - (?P<value>[\d.]+) \((?P<unit>\w+)\)`},
		}, map[measure.Metric]float64{measure.Available: 39.9e6, "available_high_bits_per_second": 40.52e6}},
		{"globus-url-copy-documented.txt", []Rule{
			{Metric: measure.Throughput, Regex: `([\d.]+ MB/sec) avg`, Binary: true},
			{Metric: measure.SentBytes, Regex: `(\d+ bytes)`},
		}, map[measure.Metric]float64{measure.Throughput: 88.75 * (1 << 20) * 8, measure.SentBytes: 1 << 30}},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			got, err := compile(t, c.rules...).Read(read(t, c.file))
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(c.want, got, close); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadFindsWhatIsThere(t *testing.T) {
	const text = "starting\nrate = 1,234.5 kbit/s\nRTT  Min: 12 ms (of 10)\nrate = 2 Mb/s\n{\"a\": 1}\nnoise\n[{\"b\": {\"c\": \"3 ms\"}}, {\"b\": {\"c\": 4}}]\ntrailer"
	cases := []struct {
		name string
		rule Rule
		want float64
		err  string // part of it
	}{
		{"the last line of a key", Rule{Metric: "x_bits_per_second", Key: "Rate"}, 2e6, ""},
		{"a remark behind the unit", Rule{Metric: "x_seconds", Key: "rtt min"}, 0.012, ""},
		{"scale", Rule{Metric: "x_seconds", Key: "rtt min", Scale: 0.5}, 0.006, ""},
		{"unit instead of the printed one", Rule{Metric: "x_seconds", Key: "rtt min", Unit: "us"}, 12e-6, ""},
		{"the last match", Rule{Metric: "x_bits_per_second", Regex: `rate = (\S+ \S+)`}, 2e6, ""},
		{"the first match", Rule{Metric: "x_bits_per_second", Regex: `(?s)\A.*?rate = (\S+ \S+)`}, 1234500, ""},
		{"the last document, and text in it", Rule{Metric: "x_seconds", JSON: "$[0].b.c"}, 0.003, ""},
		{"a number in it", Rule{Metric: "x_seconds", JSON: "$[-1]..c"}, 4, ""},
		{"nothing", Rule{Metric: "x_seconds", Regex: `rtt max (\d+)`}, 0, `x_seconds: regex "rtt max (\\d+)" matches nothing`},
		{"another document", Rule{Metric: "x_seconds", JSON: "$.a"}, 0, `x_seconds: json $.a matches nothing`},
		{"no key", Rule{Metric: "x_seconds", Key: "rtt"}, 0, `x_seconds: key "rtt" matches nothing`},
		{"several values", Rule{Metric: "x_seconds", JSON: "$..c"}, 0, "names 2 values; make it name one"},
		{"no number", Rule{Metric: "x_seconds", JSON: "$[0].b"}, 0, "names a value that is no number"},
		{"no number in the group", Rule{Metric: "x_seconds", Regex: "(starting)"}, 0, `finds "starting", which is no number`},
		{"another unit", Rule{Metric: "x_seconds", Key: "rate"}, 0, `"Mb/s" is no unit of _seconds; it can be ns, us, ms, s or min`},
		{"percent without its unit", Rule{Metric: "x_ratio", Regex: `(\d+) ms`}, 0, "which is no ratio of 0 to 1; give its unit, such as %"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := compile(t, c.rule).Read(text)
			if c.err != "" {
				var missing *NotFound
				if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.err) || len(got) != 0 {
					t.Errorf("got %v and error %v, want one with %q", got, err, c.err)
				}
				return
			}
			if diff := cmp.Diff(map[measure.Metric]float64{c.rule.Metric: c.want}, got, close); err != nil || diff != "" {
				t.Errorf("error %v, metrics (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	cases := map[string][]Rule{
		`metric "rtt": a name is lower-case words joined by "_" and ends in _bits_per_second`: {{Metric: "rtt", Key: "x"}},
		`metric "_seconds": a name`:                                 {{Metric: "_seconds", Key: "x"}},
		`metric "RTT_seconds": a name`:                              {{Metric: "RTT_seconds", Key: "x"}},
		`x_seconds: rule "": give one of regex, json and key`:       {{Metric: "x_seconds"}},
		`x_seconds: rule "regex key": give one`:                     {{Metric: "x_seconds", Key: "x", Regex: "(x)"}},
		`x_seconds: regex "(foo": missing closing )`:                {{Metric: "x_seconds", Regex: "(foo"}},
		`x_seconds: regex "foo": put parentheses around the number`: {{Metric: "x_seconds", Regex: "foo"}},
		`x_seconds: regex "(?P<unit>x)": put parentheses`:           {{Metric: "x_seconds", Regex: "(?P<unit>x)"}},
		`x_seconds: json "$.a[": `:                                  {{Metric: "x_seconds", JSON: "$.a["}},
		`x_seconds: json "$..a..b": a path has one`:                 {{Metric: "x_seconds", JSON: "$..a..b"}},
		`x_seconds: json "$[0,1]": `:                                {{Metric: "x_seconds", JSON: "$[0,1]"}},
		`x_seconds: json "$[?(@..x == 1)].y": a filter`:             {{Metric: "x_seconds", JSON: "$[?(@..x == 1)].y"}},
		`x_seconds: key "a=b": give what stands left`:               {{Metric: "x_seconds", Key: "a=b"}},
		`x_seconds: unit "Mbit/s": give one such as ns`:             {{Metric: "x_seconds", Key: "a", Unit: "Mbit/s"}},
		`x_seconds: regex "(aaa`:                                    {{Metric: "x_seconds", Regex: "(" + strings.Repeat("a", maxExpression) + ")"}},
		`metric "x_seconds": give each metric one rule`:             {{Metric: "x_seconds", Key: "a"}, {Metric: "x_seconds", Key: "b"}},
	}
	for want, rules := range cases {
		_, err := Compile(rules)
		var bad *RuleError
		if !errors.As(err, &bad) || !bad.BadInput() || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s…", err, want)
		}
	}
}

// bbcp and others sum up on standard error.
func TestReadOutputLooksAtStandardErrorNext(t *testing.T) {
	p := compile(t, Rule{Metric: "a_seconds", Key: "a"}, Rule{Metric: "b_seconds", Key: "b"})
	got, err := p.ReadOutput(&measure.Output{Stdout: "a: 1 s\n", Stderr: "a: 2 s\nb: 3 s\n"})
	if diff := cmp.Diff(map[measure.Metric]float64{"a_seconds": 1, "b_seconds": 3}, got); err != nil || diff != "" {
		t.Errorf("error %v, metrics (-want +got):\n%s", err, diff)
	}
}

func TestApply(t *testing.T) {
	result := func(status measure.Status, failure string, exit int, metrics map[measure.Metric]float64) *measure.Result {
		r := &measure.Result{Status: status, Metrics: metrics}
		if failure != "" {
			r.Error = &failure
		}
		r.Samples.Output = &measure.Output{Stdout: "a: 1 s\n", ExitCode: exit}
		return r
	}
	const missing = "read what the program printed: b_seconds: key \"b\" matches nothing"
	type metrics = map[measure.Metric]float64
	a, both := Rule{Metric: "a_seconds", Key: "a"}, []Rule{{Metric: "a_seconds", Key: "a"}, {Metric: "b_seconds", Key: "b"}}
	cases := []struct {
		name    string
		rules   []Rule
		in      *measure.Result
		want    *measure.Result
		changed bool
	}{
		{"better rules make a failed Result good", []Rule{a}, result(measure.StatusFailed, "read what…", 0, metrics{}),
			result(measure.StatusOK, "", 0, metrics{"a_seconds": 1}), true},
		{"nothing new", []Rule{a}, result(measure.StatusOK, "", 0, metrics{"a_seconds": 1}),
			result(measure.StatusOK, "", 0, metrics{"a_seconds": 1}), false},
		{"a wrong value goes, another metric stays", both, result(measure.StatusOK, "", 0, metrics{"b_seconds": 7, "c_bytes": 8}),
			result(measure.StatusPartial, missing, 0, metrics{"a_seconds": 1, "c_bytes": 8}), true},
		{"the program's failure stays", []Rule{a}, result(measure.StatusFailed, "exit status 2", 2, metrics{}),
			result(measure.StatusPartial, "exit status 2", 2, metrics{"a_seconds": 1}), true},
	}
	for _, c := range cases {
		changed := Apply(compile(t, c.rules...), c.in)
		if diff := cmp.Diff(c.want, c.in); diff != "" || changed != c.changed {
			t.Errorf("%s: changed %v, Result (-want +got):\n%s", c.name, changed, diff)
		}
	}
	if Apply(compile(t, a), &measure.Result{}) {
		t.Error("a Result without an output changed")
	}
}

// An archive may be read again by better rules: what one Result costs.
func BenchmarkRead(b *testing.B) {
	for file, rule := range map[string]Rule{
		"iperf3.json":  {Metric: measure.Throughput, JSON: "$.end.sum_received.bits_per_second"},
		"iperf3.txt":   {Metric: measure.Throughput, Regex: `([\d.]+ \wbits/sec) .*receiver`},
		"tcptrace.txt": {Metric: measure.Throughput, Key: "throughput"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			b.Fatal(err)
		}
		p, err := Compile([]Rule{rule})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(file, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := p.Read(string(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
