package analysis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// ways are routes of tests by a letter, and the round trips to their ends. Those of capitals differ in an address of a router alone.
var ways = map[rune]struct {
	hops [][]string
	trip float64
}{
	'n': {[][]string{{"x"}, {"north"}, {"z"}}, 0.010},
	's': {[][]string{{"x"}, {"south"}, {"z"}}, 0.011},
	'w': {[][]string{{"x"}, {"west"}, {"far"}, {"z"}}, 0.022},
	'e': {[][]string{{"x"}, {"east"}, {"z"}}, 0.010},
	'b': {[][]string{{"x"}, {"north", "south"}, {"z"}}, 0.010}, // by packet
	'.': {[][]string{{"x"}, nil, {"z"}}, 0.010},
	'-': {[][]string{nil, nil}, 0},
	'A': {[][]string{{"x"}, {"y"}, {"q"}, {"z"}}, 0.010},
	'B': {[][]string{{"x"}, {"y2"}, {"q"}, {"z"}}, 0.010},
	'C': {[][]string{{"x"}, {"y3"}, {"q"}, {"z"}}, 0.020}, // by a longer way
	// North and south are balanced before a change of what is behind.
	'1': {[][]string{{"north"}, {"near"}, {"z"}}, 0.010},
	'2': {[][]string{{"south"}, {"near"}, {"z"}}, 0.010},
	'3': {[][]string{{"north"}, {"far"}, {"z"}}, 0.015},
	'4': {[][]string{{"south"}, {"far"}, {"z"}}, 0.015},
}

// tracesOf are traces that found the routes of a text, a minute apart.
func tracesOf(seen string) (traces []*measure.Result) {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for i, w := range seen {
		r := traceOf(fmt.Sprint(i), at.Add(time.Duration(i)*time.Minute), ways[w].hops...)
		last := &r.Samples.Hops[len(r.Samples.Hops)-1]
		trip := ways[w].trip + float64(i%3)*1e-5
		last.RTTSeconds = []*float64{&trip}
		traces = append(traces, r)
	}
	return traces
}

// text is what a course comes to, in a line.
func (c *Course) text() string {
	var parts []string
	for _, m := range c.Moves {
		parts = append(parts, fmt.Sprintf("%s>%s at %v%s", m.Before.Newest, m.After.Result, m.After.Changed, stepText(&m)))
	}
	for _, t := range c.Turns {
		parts = append(parts, fmt.Sprintf("%s %d ways, %d switches in %d at %v", t.How, len(t.Routes), t.Switches, t.Results, t.TTLs))
	}
	for _, v := range c.Varying {
		parts = append(parts, fmt.Sprintf("hop %d %s %d of %d", v.TTL, v.How, v.Results, v.Of))
	}
	for _, b := range c.Brief {
		parts = append(parts, fmt.Sprintf("brief %s %d", b.Result, b.Results))
	}
	return strings.Join(parts, "; ")
}

func stepText(m *Move) string {
	if m.Step == nil {
		return ""
	}
	return fmt.Sprintf(" %+.0f ms", m.Step.Value*1e3)
}

// Traffic was moved where a route lasts. What flaps, what is seen once or twice, what flows are balanced over, what is silent at times and what
// answers from another address is told as that.
func TestCourse(t *testing.T) {
	long := strings.Repeat
	for seen, want := range map[string]string{
		"nnnnnn":                 "",
		"nnnsss":                 "2>3 at [2] +1 ms",
		"nnnss":                  "brief 3 2",        // yet
		"nnnnnss":                "4>5 at [2] +1 ms", // two are enough where there was one route before
		"nnns":                   "brief 3 1",        // yet
		"nnnsnnn":                "brief 3 1",
		"nnnssnnn":               "brief 3 2",
		"nnn-sss":                "2>4 at [2] +1 ms",
		"nnnnsssssnnnn":          "3>4 at [2] +1 ms; 8>9 at [2] -1 ms",
		"nnnssswww":              "2>3 at [2] +1 ms; 5>6 at [2 3 4] +11 ms",
		"nnnnssssswwww":          "3>4 at [2] +1 ms; 8>9 at [2 3 4] +11 ms",
		"---":                    "",
		"":                       "",
		"n":                      "",
		"nnbbnbnb":               "hop 2 by packet 4 of 8",
		"nnnbbbnnnbbb":           "hop 2 by packet 6 of 12",
		"nnnnbsssss":             "4>5 at [2] +1 ms", // moved while a trace was under way
		"nn.n.n":                 "hop 2 silent at times 2 of 6",
		"nsnsnsnsns":             "flapping 2 ways, 9 switches in 10 at [2]",
		"nsnnsnsssnssnn":         "balanced 2 ways, 8 switches in 14 at [2]",
		"nsenesnsneesnees":       "balanced 3 ways, 13 switches in 16 at [2]",
		"AAAABBBB":               "hop 2 readdressed 4 of 8",
		"ABAABABBBABBAA":         "addresses 2 ways, 8 switches in 14 at [2]",
		"AAAACCCC":               "3>4 at [2] +10 ms",
		"1221211212334343443434": "9>10 at [2] +5 ms; balanced 2 ways, 7 switches in 10 at [1]; balanced 2 ways, 9 switches in 12 at [1]",
		long("n", 30) + "s" + long("n", 30) + long("w", 8):                       "60>61 at [2 3 4] +12 ms; brief 30 1",
		long("n", 9) + long("s", 9) + long("n", 9):                               "8>9 at [2] +1 ms; 17>18 at [2] -1 ms",
		long(long("n", 9)+long("s", 9), 3):                                       "flapping 2 ways, 5 switches in 54 at [2]",
		long(long("n", 9)+long("s", 9), 3) + long("w", 9):                        "53>54 at [2 3 4] +11 ms; flapping 2 ways, 5 switches in 54 at [2]",
		long("n", 9) + long("s", 9) + long("n", 9) + long("w", 9) + long("n", 9): "8>9 at [2] +1 ms; 17>18 at [2] -1 ms; 26>27 at [2 3 4] +12 ms; 35>36 at [2 3 4] -12 ms",
	} {
		c := CourseOf(tracesOf(seen))
		if got := c.text(); got != want {
			t.Errorf("%s\nis   %s\nwant %s", seen, got, want)
		}
	}
}

// A change has the delays before and after, and the step between them, with intervals that hold what is so.
func TestCourseDelays(t *testing.T) {
	m := CourseOf(tracesOf(strings.Repeat("n", 20) + strings.Repeat("w", 20))).Moves[0]
	for _, c := range []struct {
		name  string
		got   *Estimate
		value float64
	}{{"before", m.DelayBefore, 0.01001}, {"after", m.DelayAfter, 0.02201}, {"step", m.Step, 0.012}} {
		if c.got.Value < c.value-1e-9 || c.got.Value > c.value+1e-9 || c.got.Low > c.value+1e-9 || c.got.High < c.value-1e-9 || c.got.High-c.got.Low > 3e-5 {
			t.Errorf("%s: %+v, want %v", c.name, *c.got, c.value)
		}
	}
	quiet := CourseOf(tracesOf("nnnnssss"))
	silent := tracesOf("nnnnssss")
	for _, r := range silent {
		r.Samples.Hops[2].RTTSeconds = []*float64{nil}
	}
	if m := CourseOf(silent).Moves[0]; m.Step != nil || m.DelayBefore != nil || m.DelayAfter != nil || len(quiet.Moves) != 1 {
		t.Errorf("the end has no round trips: %+v", m)
	}
}

// Traces of a route that is balanced by flow come to a change seldom, the seldomer the more there are: most often where they are as few as ten, of
// which chance has many divided neatly. What is settled is right in nearly all cases.
func TestBalancedIsNoChange(t *testing.T) {
	letters := []rune("nsew")
	const series = 100
	for _, c := range []struct{ ways, traces, most, settled int }{{2, 6, 12, 0}, {2, 10, 15, 6}, {2, 30, 4, 2}, {2, 100, 1, 1}, {4, 10, 22, 5}, {4, 30, 12, 8}, {4, 100, 4, 3}} {
		changes, settled, flaps := 0, 0, 0
		for seed := range uint64(series) {
			random := rand.New(rand.NewPCG(seed, 1))
			var seen strings.Builder
			for range c.traces {
				seen.WriteRune(letters[random.IntN(c.ways)])
			}
			course := CourseOf(tracesOf(seen.String()))
			changes += min(1, len(course.Moves))
			settled += len(slices.DeleteFunc(course.Moves, func(m Move) bool { return !m.Settled() }))
			flaps += len(slices.DeleteFunc(course.Turns, func(t Turns) bool { return t.How != Flapping }))
		}
		if changes > c.most || settled > c.settled || flaps > 8 {
			t.Errorf("%d ways, %d traces: %d of %d series have a change, want %d at most, %d settled ones, want %d; %d flap",
				c.ways, c.traces, changes, series, c.most, settled, c.settled, flaps)
		}
	}
}

// The same traces come to the same each time, and traces are left as they were.
func TestCourseChangesNothing(t *testing.T) {
	traces := tracesOf("nnnssnsnsnssnwwwwwww")
	one := CourseOf(traces)
	if diff := cmp.Diff(one, CourseOf(traces)); diff != "" {
		t.Errorf("the second time (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(tracesOf("nnnssnsnsnssnwwwwwww"), traces); diff != "" {
		t.Errorf("the traces (-before +after):\n%s", diff)
	}
}

// BenchmarkCourse judges as many traces as a page looks at, of a route that is balanced over four ways: a fifth of a second.
func BenchmarkCourse(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	var seen strings.Builder
	for range 3000 {
		seen.WriteRune([]rune("nsew")[random.IntN(4)])
	}
	traces := tracesOf(seen.String())
	for b.Loop() {
		CourseOf(traces)
	}
}
