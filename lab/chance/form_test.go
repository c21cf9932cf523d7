package chance

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/notation"
)

// settings is how a link's shape holds this package's configurations.
type settings struct {
	Loss      *Loss    `yaml:"loss" json:"loss,omitempty"`
	Jitter    *Jitter  `yaml:"jitter" json:"jitter,omitempty"`
	Duplicate *Share   `yaml:"duplicate" json:"duplicate,omitempty"`
	Corrupt   *Corrupt `yaml:"corrupt" json:"corrupt,omitempty"`
	Reorder   *Reorder `yaml:"reorder" json:"reorder,omitempty"`
	Outage    *Outage  `yaml:"outage" json:"outage,omitempty"`
	Drift     *Drift   `yaml:"drift" json:"drift,omitempty"`
	Creep     *Creep   `yaml:"creep" json:"creep,omitempty"`
}

// String prints what is set, a line each.
func (s settings) String() string {
	var b strings.Builder
	line := func(key string, value fmt.Stringer, set bool) {
		if set {
			fmt.Fprintf(&b, "%s: %v\n", key, value)
		}
	}
	line("loss", s.Loss, s.Loss != nil)
	line("jitter", s.Jitter, s.Jitter != nil)
	line("duplicate", s.Duplicate, s.Duplicate != nil)
	line("corrupt", s.Corrupt, s.Corrupt != nil)
	line("reorder", s.Reorder, s.Reorder != nil)
	line("outage", s.Outage, s.Outage != nil)
	line("drift", s.Drift, s.Drift != nil)
	line("creep", s.Creep, s.Creep != nil)
	return b.String()
}

const ms = 1e6

var forms = []struct {
	text string
	want settings
}{
	{"loss: 1%", settings{Loss: Independent(0.01)}},
	{"loss: 0", settings{Loss: Independent(0)}},
	{"loss: {}", settings{Loss: &Loss{}}},
	{"loss: {ratio: 1%}", settings{Loss: Independent(0.01)}},
	{"loss: {gilbert: {enter: 0.2%, leave: 10%, good: 0, bad: 80%}}",
		settings{Loss: &Loss{Gilbert: &Gilbert{Enter: 0.002, Leave: 0.1, Bad: ratio(0.8)}}}},
	{"loss: {gilbert: {enter: 0.2%, leave: 10%, bad: 0, good: 1%}}",
		settings{Loss: &Loss{Gilbert: &Gilbert{Enter: 0.002, Leave: 0.1, Bad: ratio(0), Good: 0.01}}}},
	{"loss: {gilbert: {ratio: 1%, burst: 5}}", settings{Loss: &Loss{Gilbert: &Gilbert{Ratio: 0.01, Burst: 5}}}},
	{"loss: {gilbert: {ratio: 0, burst: 1.5}}", settings{Loss: &Loss{Gilbert: &Gilbert{Burst: 1.5}}}},
	{"loss: {every: 100, offset: 3}", settings{Loss: &Loss{Every: 100, Offset: 3}}},
	{"loss: {larger_than: 1300B, ratio: 100%}", settings{Loss: &Loss{LargerThan: 1300, Ratio: ratio(1)}}},
	{"loss: {smaller_than: 100B}", settings{Loss: &Loss{SmallerThan: 100}}},
	{"loss: {period: 10s, for: 200ms, ratio: 100%, start: 1s}",
		settings{Loss: &Loss{Period: 10e9, For: 200 * ms, Ratio: ratio(1), Start: 1e9}}},
	{"loss: [1%, {every: 100}]", settings{Loss: &Loss{Any: []Loss{*Independent(0.01), {Every: 100}}}}},
	{"loss:\n  - 1%\n  - larger_than: 1300B\n    every: 2\n",
		settings{Loss: &Loss{Any: []Loss{*Independent(0.01), {Every: 2, LargerThan: 1300}}}}},

	{"jitter: 2ms", settings{Jitter: &Jitter{Spread: 2 * ms}}},
	{"jitter: 0", settings{Jitter: &Jitter{}}},
	{"jitter: {spread: 1.5us, distribution: paretonormal, correlation: 25%, overtake: true}",
		settings{Jitter: &Jitter{Spread: 1500, Distribution: ParetoNormal, Correlation: 0.25, Overtake: true}}},
	{"jitter: {table_file: 'a b: c.txt', correlation: 25%}", settings{Jitter: &Jitter{TableFile: "a b: c.txt", Correlation: 0.25}}},
	{"jitter: {table: [0ms, 0.1ms, 1h]}", settings{Jitter: &Jitter{Table: []notation.Delay{0, 100_000, 3600e9}}}},

	{"duplicate: 1%", settings{Duplicate: &Share{Ratio: 0.01}}},
	{"duplicate: {ratio: 1%, correlation: 20%}", settings{Duplicate: &Share{Ratio: 0.01, Correlation: 0.2}}},
	{"corrupt: 0.1%", settings{Corrupt: &Corrupt{Ratio: 0.001}}},
	{"corrupt: {ratio: 0.1%, correlation: 20%, hidden: true}",
		settings{Corrupt: &Corrupt{Ratio: 0.001, Correlation: 0.2, Hidden: true}}},
	{"reorder: 2%", settings{Reorder: &Reorder{Ratio: 0.02}}},
	{"reorder: {ratio: 2%, by: 3ms, correlation: 5%}",
		settings{Reorder: &Reorder{Ratio: 0.02, By: 3 * ms, Correlation: 0.05}}},
	{"reorder: {gap: 5, by: 3ms}", settings{Reorder: &Reorder{Gap: 5, By: 3 * ms}}},

	{"outage: {mttf: 60s, mttr: 2s}", settings{Outage: &minutely}},
	{"outage: {mttf: [10s, 60s], mttr: [1s, 5s]}",
		settings{Outage: &Outage{MTTF: Times{10e9, 60e9}, MTTR: Times{1e9, 5e9}}}},
	{"outage: {idle: 30s, mttr: 5s}", settings{Outage: &Outage{Idle: 30e9, MTTR: Times{5e9}}}},
	{"outage: {mttf: 60s, mttr: 2s, per: connection}", settings{Outage: perConnection()}},

	{"drift: {amplitude: 5ms, period: 90m, shape: triangle, phase: 0.25}",
		settings{Drift: &Drift{Amplitude: 5 * ms, Period: 5400e9, Shape: Triangle, Phase: 0.25}}},
	{"drift: {}", settings{Drift: &Drift{}}},
	{"creep: {by: 10ms, over: 5m, start: 30s}", settings{Creep: &Creep{By: 10 * ms, Over: 300e9, Start: 30e9}}},
}

func TestForms(t *testing.T) {
	for _, form := range forms {
		var got settings
		if err := notation.Unmarshal([]byte(form.text), &got); err != nil {
			t.Errorf("%s: %v", form.text, err)
			continue
		}
		if diff := cmp.Diff(form.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", form.text, diff)
		}
		var back settings
		if err := notation.Unmarshal([]byte(got.String()), &back); err != nil {
			t.Errorf("%s: printed as %q: %v", form.text, got, err)
		} else if diff := cmp.Diff(got, back); diff != "" {
			t.Errorf("%s: printed as %q (-read +read back)\n%s", form.text, got, diff)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again settings
		if err := json.Unmarshal(text, &again); err != nil {
			t.Errorf("%s: %s: %v", form.text, text, err)
		} else if diff := cmp.Diff(got, again); diff != "" {
			t.Errorf("%s: as JSON %s (-read +read back)\n%s", form.text, text, diff)
		}
	}
}

func TestPlainForms(t *testing.T) {
	for text, value := range map[string]fmt.Stringer{
		"1%":                                Independent(0.01),
		"{}":                                &Loss{},
		"2ms":                               &Jitter{Spread: 2 * ms},
		"2%":                                &Reorder{Ratio: 0.02},
		"3%":                                &Corrupt{Ratio: 0.03},
		"4%":                                &Share{Ratio: 0.04},
		"{gilbert: {leave: 10%, bad: 80%}}": &Loss{Gilbert: &Gilbert{Leave: 0.1, Bad: ratio(0.8)}},
		"[1%, {every: 100}]":                &Loss{Any: []Loss{*Independent(0.01), {Every: 100}}},
		"{mttf: [10s, 1m0s], mttr: 2s}":     &Outage{MTTF: Times{10e9, 60e9}, MTTR: Times{2e9}},
	} {
		if got := value.String(); got != text {
			t.Errorf("printed %q; want %q", got, text)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct{ text, want string }{
		{"loss: 101%", `1:7: loss: "101%": want a ratio from 0 to 1, or 0% to 100%, such as 0.0001 or 0.01%`},
		{"loss: []", "1:7: loss: a list of 0 models; want 1 to 16"},
		{"loss: [[1%]]", "1:7: loss: number 1: a list in a list; want one list of all models"},
		{"loss:\n  - 1%\n  - every: -1", "3:12: every: -1: want 1 or more, such as 100"},
		{"loss: {every: 100, ratio: 1%}",
			"1:7: loss: more than one of ratio, gilbert and every; want one, or a list of models"},
		{"loss: {every: 1.5}", `1:15: every: "1.5": want a whole number such as 5`},
		{"jitter: {table: [0ms, 1ms], table_file: a.txt}", "1:17: table: beside table_file; want either"},
		{"jitter: {spread: 1ms, table_file: a.txt}", "1:9: jitter: table: with a spread or a distribution; want either"},
		{"reorder: {gap: [1]}", "1:16: gap: want one value, not a list"},
		{"loss: {every: 5, offset: 5}", "1:26: offset: 5: want 0 or more, and less than every, which is 5"},
		{"loss: {offset: 5}", "1:16: offset: 5: want 0 or more, and less than every, which is 0"},
		{"loss: {any: [1%]}", `1:8: unknown field "any"`},
		{"loss: {larger_than: 100B, smaller_than: 101B}",
			"1:41: smaller_than: 101B: no size is larger than 100B and smaller than that"},
		{"loss: {for: 3s}", "1:7: loss: period: none; want how often the window opens, such as 10s"},
		{"loss: {period: 3s}",
			"1:7: loss: for: none; want how long the window of each period stays open, such as 200ms"},
		{"loss: {period: 3s, for: 4s}", "1:25: for: 4s: want at most the period, which is 3s"},
		{"loss: {period: 9000h, for: 4s}", "1:16: period: 9000h0m0s: want a time of at most a year (8760h)"},
		{"loss: {gilbert: 1%}", "1:17: gilbert: want a mapping such as {ratio: 1%, burst: 5}"},
		{"loss: {gilbert: {enter: 1%}}",
			"1:17: gilbert: leave: none; want {enter: 0.2%, leave: 10%} or {ratio: 1%, burst: 5}"},
		{"loss: {gilbert: {ratio: 1%, burst: 0.5}}",
			"1:36: burst: 0.5: want a mean run of 1 to 1000000000 lost packets, such as 5"},
		{"loss: {gilbert: {ratio: 1%}}",
			"1:17: gilbert: burst: 0: want a mean run of 1 to 1000000000 lost packets, such as 5"},
		{"loss: {gilbert: {ratio: 60%, burst: 1}}",
			"1:25: ratio: 60%: runs of 1 packets with at least one between them lose at most 0.5"},
		{"loss: {gilbert: {burst: 2, enter: 1%}}",
			"1:17: gilbert: ratio and burst beside enter, leave, good or bad; want either"},
		{"jitter: fast",
			`1:9: jitter: "fast": want a duration such as 50ms, 1.5s or 2m; a bare number is seconds`},
		{"jitter: [1ms]", "1:9: jitter: want a mapping such as {spread: 2ms, distribution: normal}"},
		{"jitter: {spread: 2ms, distribution: gauss}",
			`1:37: distribution: "gauss": want one of [uniform normal pareto paretonormal exponential]`},
		{"jitter: {distribution: normal}",
			"1:24: distribution: normal without a spread; want a spread too, such as 2ms"},
		{"jitter: {spread: 2ms, correlation: 100%}",
			"1:36: correlation: 1: want a ratio from 0 to less than 1, such as 25%"},
		{"jitter: {table: [1ms]}", "1:17: table: 1 entries; want 2 to 65536"},
		{"jitter: {table: [2ms, 1ms]}", "1:17: table: 1ms after 2ms: want rising order"},
		{"jitter: {table: [0, 1ms], spread: 1ms}",
			"1:17: table: with a spread or a distribution; want either"},
		{"duplicate: {share: 1%}", `1:13: unknown field "share"`},
		{"corrupt: [1%]", "1:10: corrupt: want a mapping such as {ratio: 0.1%, hidden: true}"},
		{"reorder: {gap: 5, ratio: 1%}",
			"1:16: gap: 5 with a ratio or a correlation; want either gap or ratio"},
		{"reorder: {gap: -5}", "1:16: gap: -5: want 1 or more, such as 5"},
		{"outage: 5s", "1:9: outage: want a mapping such as {mttf: 60s, mttr: 2s}"},
		{"outage: {mttr: 5s}",
			"1:9: outage: mttf: 0 times; want a mean such as 60s, or the least and the most such as [10s, 60s]"},
		{"outage: {mttf: 5s, mttr: [2s, 1s]}",
			"1:26: mttr: [2s, 1s]: want the least first, such as [10s, 60s]"},
		{"outage: {mttf: 1ms, mttr: 1s}", "1:16: mttf: 1ms: want a mean of 10ms or more, such as 60s"},
		{"outage: {mttf: 1s, mttr: 1s, idle: 1s}", "1:36: idle: 1s beside mttf; want either"},
		{"outage: {idle: 1ms, mttr: 1s}", "1:16: idle: 1ms: want 10ms or more, such as 30s"},
		{"outage: {mttf: 1s, mttr: 1s, per: packet}", `1:35: per: "packet": want link or connection`},
		{"drift: {amplitude: 5ms}", "1:8: drift: period: 0s: want 1ms or more, such as 90m"},
		{"drift: {shape: square}", `1:16: shape: "square": want one of [sine sawtooth triangle]`},
		{"creep: 10ms", "1:8: creep: want a mapping such as {by: 10ms, over: 5m}"},
	}
	for _, test := range tests {
		err := notation.Unmarshal([]byte(test.text), &settings{})
		if err == nil {
			t.Errorf("%s: no error; want %q", test.text, test.want)
		} else if err.Error() != test.want {
			t.Errorf("%s: %q; want %q", test.text, err, test.want)
		}
	}
}

// What only a program or JSON can set is refused too.
func TestValidate(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]interface{ Validate() error }{
		"ratio":       Independent(nan),
		"above one":   Independent(1.5),
		"size":        &Loss{LargerThan: -1},
		"span":        &Loss{Period: -1},
		"burst":       &Loss{Gilbert: &Gilbert{Ratio: 0.1, Burst: nan}},
		"bad":         &Loss{Gilbert: &Gilbert{Leave: 0.1, Bad: ratio(2)}},
		"both":        &Loss{Every: 3, Any: []Loss{{}}},
		"spread":      &Jitter{Spread: -1},
		"long spread": &Jitter{Spread: notation.Delay(2 * notation.MaxDelay)},
		"table":       &Jitter{Table: []notation.Delay{}},
		"share":       &Share{Ratio: -0.1},
		"corrupt":     &Corrupt{Ratio: notation.Ratio(nan)},
		"by":          &Reorder{By: -1},
		"outage":      &Outage{},
		"times":       &Outage{MTTF: Times{1e9, 1e9, 1e9}, MTTR: Times{1e9}},
		"huge times":  &Outage{MTTF: Times{math.MaxInt64, math.MaxInt64}, MTTR: Times{1e9}},
		"phase":       &Drift{Phase: 1.5},
		"creep":       &Creep{Over: -1},
	} {
		if err := c.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzForms: what is read is valid, prints as text that reads back the same, and runs.
func FuzzForms(f *testing.F) {
	for _, form := range forms {
		f.Add(form.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var s settings
		if notation.Unmarshal([]byte(text), &s) != nil {
			return
		}
		var back settings
		if err := notation.Unmarshal([]byte(s.String()), &back); err != nil {
			t.Fatalf("printed as %q: %v", s, err)
		}
		if diff := cmp.Diff(s, back); diff != "" {
			t.Fatalf("printed as %q (-read +read back)\n%s", s, diff)
		}
		run(t, &s)
	})
}

// run asks each process a few times.
func run(t *testing.T, s *settings) {
	random := seeded(0)
	for _, at := range []int64{0, 1, 1e9, 60e9} {
		if s.Loss != nil {
			s.Loss.New(at, random).Lost(at+1, 1500)
		}
		if s.Jitter != nil {
			s.Jitter.New(random).Extra(at)
		}
		if s.Reorder != nil {
			if s.Reorder.New(random).Extra() < 0 {
				t.Error("a packet held back by less than nothing")
			}
		}
		if s.Outage != nil {
			s.Outage.New(at, random).Down(at+60e9, 3)
		}
		if s.Drift != nil {
			s.Drift.New(at).Extra(at + 1)
		}
		if s.Creep != nil && s.Creep.New(at).Extra(at+1) < 0 {
			t.Error("a creep below nothing")
		}
	}
}
