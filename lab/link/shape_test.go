package link

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/lab/packet"
	"github.com/pathwise-net/pathwise/lab/queue"
)

// samples are values for each key, in the forms that it has.
var samples = map[string][]string{
	"rate":     {"10mbit", "1544kbit", "622mbit", "10gbit", "56.5kbit"},
	"trace":    {"cell.trace", `{file: "a b: c.trace"}`, "{opportunities: [0, 3, 3, 20]}", "none"},
	"overhead": {"ethernet", "atm", "none", "18B", "0B"},
	"delay":    {"1ms", "20ms", "1.5s", "0ms"},
	"jitter": {"2ms", "{spread: 2ms, distribution: pareto, overtake: true}", "{spread: 1ms, distribution: normal, correlation: 25%}",
		"{table: [0s, 9ms]}", "{table_file: delays.txt}"},
	"drift":     {"{amplitude: 5ms, period: 1s}", "{amplitude: 1ms, period: 5m, shape: sawtooth}"},
	"creep":     {"{by: 10ms, over: 1s}", "{by: 3ms, start: 1s}"},
	"loss":      {"1%", "0.1", "{every: 100}", "{gilbert: {ratio: 2%, burst: 4}}", "[0.1%, {larger_than: 1300B, ratio: 1%}]"},
	"duplicate": {"1%", "{ratio: 2%, correlation: 25%}"},
	"reorder":   {"2%", "{gap: 5, by: 3ms}", "{ratio: 10%, by: 1ms}"},
	"corrupt":   {"0.5%", "{ratio: 1%, hidden: true}"},
	"queue": {"20p", "30kB", "15ms", "{limit: 50p, drop: head}", "{codel: {}, ecn: true, limit: 1000p}",
		"{red: {min: 10p, max: 30p}, limit: 60p}",
		"{classes: [{name: premium, dscp: EF, priority: 1}, {name: bulk, dscp: [CS1, 3], weight: 2}, {name: rest, default: true}]}"},
	"police": {"{rate: 10mbit, burst: 50kB}", "{rate: 1mbit, burst: 5kB, remark: default}", "none"},
	"shaper": {"{rate: 5mbit, burst: 5kB}", "none"},
	"mtu":    {"1400B", "{size: 576B, excess: drop}"},
	"duplex": {"full", "half", "mismatch"},
	"pause":  {"{every: 80ms, for: 30ms}", "{every: 2ms, for: 1ms}", "none"},
	"outage": {"{mttf: 1s, mttr: 100ms}", "{idle: 1s, mttr: 50ms}", "{mttf: 1s, mttr: 200ms, per: connection}"},
	"down":   {"true", "false"},
	"rules": {"[]", "[{match: {dscp: EF}, rate: 1mbit}]", "[{match: {target_port: 5201}, per: flow, delay: 1ms, loss: 5%}, {per: source}]",
		"[{match: {}, per: target, rate: 2mbit, queue: 10p, jitter: 1ms}, {delay: 4ms}]"},
}

// randomShape writes a valid shape, as a lab file would have it.
func randomShape(r *rand.Rand) string {
	var parts []string
	for key := range strings.SplitSeq(strings.ReplaceAll(keys(), " or ", ", "), ", ") {
		if values := samples[key]; r.IntN(3) == 0 {
			parts = append(parts, key+": "+values[r.IntN(len(values))])
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// randomComplete returns a shape to which nothing needs to be added.
func randomComplete(t *testing.T, r *rand.Rand) Shape {
	for {
		s, err := read(randomShape(r))
		if err != nil {
			t.Fatal(err)
		}
		if s.Complete() == nil {
			return s
		}
	}
}

// Every key has samples, each of which reads back from what String prints, and from JSON.
func TestShapeRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"{}"}
	for key := range strings.SplitSeq(strings.ReplaceAll(keys(), " or ", ", "), ", ") {
		if len(samples[key]) == 0 {
			t.Errorf("no sample for %s", key)
		}
		for _, v := range samples[key] {
			texts = append(texts, "{"+key+": "+v+"}")
		}
	}
	for range 300 {
		texts = append(texts, randomShape(r))
	}
	for _, text := range texts {
		s, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		again, err := read(s.String())
		if err != nil {
			t.Errorf("%s prints %s: %v", text, s, err)
			continue
		}
		var fromJSON Shape
		if diff := cmp.Diff(s, again); diff != "" {
			t.Errorf("%s prints %s:\n%s", text, s, diff)
		}
		written, err := json.Marshal(s)
		if err == nil {
			err = json.Unmarshal(written, &fromJSON)
		}
		if diff := cmp.Diff(s, fromJSON); err != nil || diff != "" {
			t.Errorf("%s as JSON %s: %v\n%s", text, written, err, diff)
		}
	}
}

func TestShapeValues(t *testing.T) {
	var got Shape
	err := notation.Unmarshal([]byte(`
rate: 10mbit
overhead: 18B
delay: 12ms
loss: 1%
police: {rate: 1mbit, burst: 15kB}
mtu: {size: 1400B, excess: drop}
duplex: half
queue: 500p
rules:
  - {match: {dscp: EF}, per: flow, rate: 1mbit}
`), &got)
	mtu, duplex := MTU{Size: 1400, Excess: Discard}, Half
	want := Shape{
		Rate: ptr(notation.Rate(10e6)), Overhead: &Overhead{Bytes: 18}, Delay: ptr(notation.Delay(12 * time.Millisecond)),
		Loss: chance.Independent(0.01), Police: &Bucket{Rate: 1e6, Burst: 15_000}, MTU: &mtu, Duplex: &duplex,
		Queue: &queue.Config{Discipline: queue.Discipline{Limit: queue.Amount{Packets: 500}}},
		Rules: &Rules{{Match: &packet.Match{DSCP: packet.Codepoints{46}}, Per: PerFlow,
			Shape: Shape{Rate: ptr(notation.Rate(1e6))}}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func ptr[T any](v T) *T { return &v }

// A fault is one line that says where, which value, and what would be right.
func TestShapeFaults(t *testing.T) {
	for text, want := range map[string]string{
		"{speed: 1gbit}":           `1:2: unknown field "speed"`,
		"{rate: -1mbit}":           `1:8: rate: "-1mbit": want a positive rate such as 100mbit or 1.5gbit`,
		"{rate: 0.5bit}":           `rate: 0.5bit: want 1bit to 10tbit`,
		"{delay: 2h}":              `1:9: delay: "2h": want at most 1h`,
		"{overhead: token-ring}":   `1:12: overhead: "token-ring": want ethernet, atm, none or a number of bytes such as 18B`,
		"{overhead: [1]}":          `1:12: overhead: want one value: ethernet, atm, none or a number of bytes such as 18B`,
		"{police: 10mbit}":         `1:10: police: "10mbit": want {rate: 10mbit, burst: 50kB}, or none`,
		"{police: {rate: 10mbit}}": `1:10: police: burst: 0B: want 1B or more, as in {rate: 10mbit, burst: 50kB}`,
		"{shaper: {burst: 1kB}}":   `1:10: shaper: rate: not set; want it, as in {rate: 10mbit, burst: 50kB}`,
		"{shaper: {rate: 1mbit, burst: 1kB, remark: EF}}": `shaper: remark: it holds back what is above, and remarks nothing; want it of police`,
		"{police: {rate: 1mbit, burst: 1kB, remark: 64}}": `1:44: remark: "64": want a DSCP: 0 to 63, or a name like EF, AF11, CS1, LE or default`,
		"{mtu: 60B}":                        `1:7: mtu: 60B: want 68B to 65535B`,
		"{mtu: {size: 1400B, excess: eat}}": `1:7: mtu: excess: "eat": want icmp, fragment or drop`,
		"{duplex: quarter}":                 `1:10: duplex: "quarter": want full, half or mismatch`,
		"{trace: {opportunities: [3, 1]}}":  `1:9: trace: opportunities: number 2: 1: want milliseconds from 3, the one before, to 1000000000`,
		"{trace: {opportunities: [1.5]}}":   `1:26: opportunities: "1.5": want whole milliseconds`,
		"{down: maybe}":                     `1:8: down: "maybe": want true or false`,
		"{trace: {}}":                       `1:9: trace: want {file: cell.trace}, {opportunities: [1, 5, 9]} or none`,
		"{rate: 1mbit, trace: cell.trace}":  `trace: there is a rate as well; want one of the two`,
		"{jitter: {table_file: a.txt}}":     `jitter: table_file: "a.txt": has not been read`,
		"{trace: cell.trace}":               `trace: "cell.trace": has not been read`,
		"{duplex: half}":                    "duplex: half: needs a rate, such as `rate: 10mbit`",
		"{pause: 30ms}":                     `1:9: pause: want a mapping such as {every: 80ms, for: 30ms}`,
		"{pause: {}}":                       `1:9: pause: every: not set; want it, as in {every: 80ms, for: 30ms}`,
		"{pause: {every: 80ms}}":            `1:9: pause: for: 0s: want 0.1ms or more, as in {every: 80ms, for: 30ms}`,
		"{pause: {every: 30ms, for: 30ms}}": `1:17: every: 30ms: want 0.1ms or more beside the 30ms of each pause`,
		"{pause: {every: 80ms, for: 30ms}}": "pause: needs a rate, such as `rate: 100mbit`",
		"{rate: 1mbit, duplex: half, pause: {every: 80ms, for: 30ms}}": `pause: is of full duplex (IEEE 802.3 annex 31B); duplex is half`,
		"{rules: [{rate: 1mbit, pause: {every: 80ms, for: 30ms}}]}":    `rules: number 1: pause: is the link's; want it outside of the rules`,
		"{duplex: half, rate: 1gbit, overhead: atm}":                   `duplex: half: is Ethernet's; the overhead is atm`,
		"{rules: [{mtu: 1400B}]}":                                      `rules: number 1: mtu: is the link's; want it outside of the rules`,
		"{rules: [{}, {per: colour}]}":                                 `1:20: per: "colour": want flow, source or target`,
		"{rules: [{per: flow, outage: {mttf: 1s, mttr: 1s, per: connection}}]}": "rules: number 1: outage: per connection does not " +
			"go with per: flow; leave it out, each flow has an outage of its own",
		"{rules: [{rules: []}]}": `rules: number 1: rules: a rule has none of its own`,
		"{rules: [{loss: 2}]}":   `1:17: loss: "2": want a ratio from 0 to 1, or 0% to 100%, such as 0.0001 or 0.01%`,
		"{trace: {opportunities: [1]}, shaper: {rate: 1mbit, burst: 3kB}}": `shaper: does not go with a trace; want one of the two`,
	} {
		s, err := read(text)
		if err == nil {
			err = s.Complete()
		}
		var bad *document.Error
		if !errors.As(err, &bad) || err.Error() != want {
			t.Errorf("%s:\ngot  %v\nwant %s", text, err, want)
		}
	}
}

func TestOver(t *testing.T) {
	shape := func(text string) Shape {
		s, err := read(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range [][3]string{
		{"{rate: 1mbit, delay: 1ms}", "{delay: 2ms, loss: 1%}", "{rate: 1mbit, delay: 2ms, loss: 1%}"},
		{"{rate: 1mbit}", "{trace: x}", "{trace: x}"},
		{"{trace: x}", "{rate: 1mbit}", "{rate: 1mbit}"},
		{"{rate: 1mbit}", "{trace: none}", "{rate: 1mbit, trace: none}"},
		{"{rules: [{}]}", "{rules: []}", "{rules: []}"},
	} {
		below, above := shape(c[0]), shape(c[1])
		if diff := cmp.Diff(shape(c[2]), below.Over(&above)); diff != "" {
			t.Errorf("%s over %s:\n%s", c[1], c[0], diff)
		}
		if diff := cmp.Diff(below, shape(c[0])); diff != "" {
			t.Errorf("Over changed what is below:\n%s", diff)
		}
	}
	below := shape("{rate: 1mbit}")
	if diff := cmp.Diff(below, below.Over(nil)); diff != "" {
		t.Error(diff)
	}
}

func TestCheckPair(t *testing.T) {
	half, slow, full := shapeOf(t, "{rate: 10mbit, duplex: half}"), shapeOf(t, "{rate: 1mbit, duplex: half}"), shapeOf(t, "{}")
	for _, c := range []struct {
		a, b Shape
		want string
	}{
		{half, half, ""},
		{full, full, ""},
		{half, full, "duplex: half one way and full the other; want the same, it belongs to the link"},
		{half, slow, fmt.Sprintf("duplex: half: rate %v one way and %v the other; want the same", *half.Rate, *slow.Rate)},
	} {
		if err := CheckPair(c.a, c.b); c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v and %v: %v, want %s", c.a, c.b, err, c.want)
		}
	}
}

func TestParseSetting(t *testing.T) {
	one := Shape{Loss: chance.Independent(0.01)}
	every := Shape{Loss: &chance.Loss{Every: 100}}
	short := Shape{Queue: &queue.Config{Discipline: queue.Discipline{Limit: queue.Amount{Packets: 20}}}}
	for _, c := range []struct {
		in               string
		forward, reverse Shape
		fault            string
	}{
		{in: "loss=1%", forward: one, reverse: one},
		{in: "forward.loss=0.01", forward: one},
		{in: "reverse.loss=1%", reverse: one},
		{in: "forward.loss={every: 100}", forward: every},
		{in: "queue=20p", forward: short, reverse: short},
		{in: "down=true", forward: Shape{Down: ptr(Bool(true))}, reverse: Shape{Down: ptr(Bool(true))}},
		{in: "rules=[]", forward: Shape{Rules: &Rules{}}, reverse: Shape{Rules: &Rules{}}},
		{in: "loss", fault: `"loss": want KEY=VALUE, such as loss=1%`},
		{in: "sideways.loss=1%", fault: `"sideways.loss": want forward.loss or reverse.loss`},
		{in: "colour=red", fault: `"colour": want rate, trace, overhead, delay, jitter, drift, creep, loss, duplicate, reorder, ` +
			`corrupt, queue, police, shaper, mtu, duplex, pause, outage, down or rules`},
		{in: "speed=1", fault: `"speed": want ` + keys()},
		{in: "loss=150%", fault: `loss: "150%": want a ratio from 0 to 1, or 0% to 100%, such as 0.0001 or 0.01%`},
		{in: "rate=0.1bit", fault: `rate: 0.1bit: want 1bit to 10tbit`},
		{in: "loss=", fault: `loss: "": want one value`},
		{in: "loss=1%, delay: 5ms", fault: `loss: "1%, delay: 5ms": want one value`},
		{in: "down=perhaps", fault: `down: "perhaps": want true or false`},
	} {
		forward, reverse, err := ParseSetting(c.in)
		if c.fault != "" {
			if err == nil || err.Error() != c.fault {
				t.Errorf("%s: error %v, want %s", c.in, err, c.fault)
			}
			continue
		}
		if err != nil || !cmp.Equal(forward, c.forward) || !cmp.Equal(reverse, c.reverse) {
			t.Errorf("%s: %v %v %v", c.in, forward, reverse, err)
		}
	}
}

// Whatever is read is a shape that prints, reads back and runs, or a fault of one line.
func FuzzShape(f *testing.F) {
	for key, values := range samples {
		for _, v := range values {
			f.Add("{" + key + ": " + v + "}")
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := read(text)
		if err == nil {
			err = s.Validate()
		}
		if err != nil {
			var bad *document.Error
			if !errors.As(err, &bad) {
				t.Fatalf("%q: %v is not a *document.Error", text, err)
			}
			return
		}
		again, err := read(s.String())
		if err != nil {
			t.Fatalf("%q prints %s: %v", text, s, err)
		}
		if diff := cmp.Diff(s.String(), again.String()); diff != "" {
			t.Fatal(diff)
		}
		if s.Complete() == nil {
			r := &rig{t: t}
			r.d = New(0, 1, 0, s, &r.pool, r.out())
			for i := range int64(20) {
				r.send(i*millisecond, 1500)
			}
			r.finish()
		}
	})
}

func FuzzParseSetting(f *testing.F) {
	for key, values := range samples {
		f.Add("forward." + key + "=" + values[0])
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, _, err := ParseSetting(text); err != nil {
			var bad *document.Error
			if !errors.As(err, &bad) || bad.Line != 0 || strings.Contains(bad.Problem, "\n") && !strings.Contains(text, "\n") {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}
