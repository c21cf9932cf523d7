package queue

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
)

// holder has a queue as a link has.
type holder struct {
	Queue *Config `yaml:"queue" json:"queue,omitempty"`
}

func read(text string) (*Config, error) {
	var h holder
	err := notation.Unmarshal([]byte(text), &h)
	return h.Queue, err
}

var forms = []struct {
	text string
	want Config
}{
	{"500p", Config{Discipline: Discipline{Limit: Amount{Packets: 500}}}},
	{"250kB", Config{Discipline: Discipline{Limit: Amount{Bytes: 250_000}}}},
	{"64k", Config{Discipline: Discipline{Limit: Amount{Bytes: 64 << 10}}}},
	{"5m", Config{Discipline: Discipline{Limit: Amount{Bytes: 5 << 20}}}},
	{"1500", Config{Discipline: Discipline{Limit: Amount{Bytes: 1500}}}},
	{"100ms", Config{Discipline: Discipline{Limit: Amount{Time: 100 * ms}}}},
	{"1.5s", Config{Discipline: Discipline{Limit: Amount{Time: 1500 * ms}}}},
	{"250us", Config{Discipline: Discipline{Limit: Amount{Time: ms / 4}}}},
	{"{}", Config{}},
	{"{limit: 500p, drop: head}", Config{Discipline: Discipline{Limit: Amount{Packets: 500}, Drop: HeadDrop}}},
	{"{red: {min: 30p}}", Config{Discipline: Discipline{RED: &RED{Min: Amount{Packets: 30}}}}},
	{"{limit: 1MB, drop: random, red: {min: 5ms, max: 20ms, probability: 2%, weight: 0.001, gentle: true}, ecn: true}",
		Config{Discipline: Discipline{Limit: Amount{Bytes: 1e6}, Drop: RandomDrop, ECN: true,
			RED: &RED{Min: Amount{Time: 5 * ms}, Max: Amount{Time: 20 * ms}, Probability: 0.02, Weight: 0.001, Gentle: true}}}},
	{"{codel: {}}", Config{Discipline: Discipline{CoDel: &CoDel{}}}},
	{"{codel: {target: 1ms, interval: 20ms}, ecn: true}",
		Config{Discipline: Discipline{CoDel: &CoDel{Target: ms, Interval: 20 * ms}, ECN: true}}},
	{`{classes: [{name: premium, dscp: [EF], priority: 1, limit: 20p}, {name: best-effort, default: true, weight: 10, codel: {}, ecn: true},
	           {name: scavenger, dscp: [CS1, LE], weight: 0.5}]}`,
		Config{Classes: []Class{
			{Name: "premium", DSCP: packet.Codepoints{46}, Priority: 1, Discipline: Discipline{Limit: Amount{Packets: 20}}},
			{Name: "best-effort", Default: true, Weight: 10, Discipline: Discipline{CoDel: &CoDel{}, ECN: true}},
			{Name: "scavenger", DSCP: packet.Codepoints{8, 1}, Weight: 0.5},
		}}},
	{"{classes: [{name: \"true\", dscp: EF}, {name: \"null\", default: true}]}",
		Config{Classes: []Class{{Name: "true", DSCP: packet.Codepoints{46}}, {Name: "null", Default: true}}}},
}

// Each form is read, and comes back from its own text and from JSON.
func TestForms(t *testing.T) {
	for _, c := range forms {
		got, err := read("queue: " + c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if diff := cmp.Diff(c.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
		again(t, *got)
	}
}

func again(t *testing.T, c Config) {
	t.Helper()
	empty := cmpopts.EquateEmpty() // `classes: []` is no classes
	if got, err := read("queue: " + c.String()); err != nil || !cmp.Equal(*got, c, empty) {
		t.Errorf("%s: read again as %v, %v", c, got, err)
	}
	text, err := json.Marshal(c)
	var got Config
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || !cmp.Equal(got, c, empty) {
		t.Errorf("%s: JSON %s read again as %v, %v", c, text, got, err)
	}
}

func TestStringIsPlainWhereItCan(t *testing.T) {
	for _, text := range []string{"500p", "250000B", "100ms", "{}", "{limit: 500p, drop: head}", "{codel: {}, ecn: true}",
		"{red: {min: 30p, max: 90p, probability: 0.1, weight: 0.002, gentle: true}}",
		"{classes: [{name: premium, dscp: EF, priority: 1, limit: 20p}, {name: rest, dscp: [CS1, LE], default: true, weight: 10}]}"} {
		c, err := read("queue: " + text)
		if err != nil || c.String() != text {
			t.Errorf("%s: printed as %v, %v", text, c, err)
		}
	}
}

// Every fault is one line that says where it is, which value, and what would be right.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"queue: 0p", `1:8: queue: "0p": want packets such as 500p, a size such as 250kB, or a time such as 100ms`},
		{"queue: soon", `1:8: queue: "soon": want packets such as 500p, a size such as 250kB, or a time such as 100ms`},
		{"queue: 5min", `1:8: queue: "5min": want packets such as 500p, a size such as 250kB, or a time such as 100ms`},
		{"queue: 1.5p", `1:8: queue: "1.5p": want packets such as 500p, a size such as 250kB, or a time such as 100ms`},
		{"queue: 99999999p", `1:8: queue: "99999999p": want 1p to 16777216p`},
		{"queue: 2TiB", `1:8: queue: "2199023255552B": want 1B to 1099511627776B`},
		{"queue: 4000s", `1:8: queue: "1h6m40s": want at most 1h`},
		{"queue: {limit: 5x}", `1:16: limit: "5x": want packets such as 500p, a size such as 250kB, or a time such as 100ms`},
		{"queue: {limit: [5p]}", `1:16: limit: want one value, such as 500p, 250kB or 100ms`},
		{"queue: {size: 5p}", `1:9: unknown field "size"`},
		{"queue: {drop: middle}", `1:8: queue: drop: "middle": want tail, head or random`},
		{"queue: {red: {}}", `1:8: queue: red: min: none; give one, such as 30p, 45kB or 5ms`},
		{"queue: {red: {min: 30p, max: 20p}}", `1:8: queue: red: max: 20p: want more than min, 30p`},
		{"queue: {red: {min: 30p, max: 90kB}}", `1:8: queue: red: max: 90000B: want the unit of min, 30p`},
		{"queue: {red: {min: 30p, probability: 110%}}",
			`1:38: probability: "110%": want a ratio from 0 to 1, or 0% to 100%, such as 0.0001 or 0.01%`},
		{"queue: {red: {min: 3p}, codel: {}}", `1:8: queue: codel: beside red; a queue has one of the two`},
		{"queue: {codel: {target: 200ms}}", `1:8: queue: codel: target: 200ms: want less than the interval, 100ms`},
		{"queue: {codel: {interval: 2h}}", `1:8: queue: codel: 2h0m0s: want a time from 0 to 1h`},
		{"queue: {ecn: true}", `1:8: queue: ecn: without red or codel there is nothing to mark for; add one, such as ` + "`codel: {}`"},
		{"queue: {limit: 5p, classes: [{name: a, default: true}]}",
			`1:8: queue: classes: beside limit, drop, red, codel or ecn; give these to each class`},
		{"queue: {classes: [{name: a b, default: true}]}",
			`1:8: queue: classes: number 1: name: "a b": want a letter, then letters, digits, - and _, 32 at most`},
		{"queue: {classes: [{name: a}]}",
			`1:8: queue: classes: number 1: dscp: none; name some, such as [EF], or say ` + "`default: true`"},
		{"queue: {classes: [{name: a, dscp: EF}]}",
			`1:8: queue: classes: default: 0 of them; want ` + "`default: true`" + ` in one, which takes what no other names`},
		{"queue: {classes: [{name: a, default: true}, {name: a, dscp: EF}]}",
			`1:8: queue: classes: name: "a" twice; give each its own`},
		{"queue: {classes: [{name: a, default: true, dscp: 46}, {name: b, dscp: EF}]}",
			`1:8: queue: classes: dscp: EF twice; a packet has one class`},
		{"queue: {classes: [{name: a, default: true, priority: 1}, {name: b, dscp: EF, priority: 1}]}",
			`1:8: queue: classes: priority: 1 twice; give each its own`},
		{"queue: {classes: [{name: a, default: true, priority: 1.5}]}", `1:54: priority: "1.5": want 1, the first, to 64`},
		{"queue: {classes: [{name: a, default: true, priority: 1, weight: 2}]}",
			`1:8: queue: classes: number 1: weight: beside priority; a class has one of the two`},
		{"queue: {classes: [{name: a, default: true, weight: -2}]}",
			`1:8: queue: classes: number 1: weight: -2: want 0.001 to 1000`},
		{"queue: {classes: [{name: a, default: true, weight: 0.1}, {name: b, dscp: EF, weight: 200}]}",
			`1:8: queue: classes: weight: 0.1 and 200; want at most 1000 to 1`},
		{"queue: {classes: [{name: a, default: true, ecn: true}]}",
			`1:8: queue: classes: number 1: ecn: without red or codel there is nothing to mark for; add one, such as ` + "`codel: {}`"},
	} {
		_, err := read(c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

// FuzzConfig: what is read is valid, comes back, and makes a queue that loses nothing.
func FuzzConfig(f *testing.F) {
	for _, c := range forms {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := read("queue: " + text)
		if err != nil || c == nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Fatalf("%s was read, but: %v", text, err)
		}
		again(t, *c)
		churn(t, *c, 1, 500)
	})
}
