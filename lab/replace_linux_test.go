package lab

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/link"
)

// A lab that is up is listed once, however many talk to it; names that no lab can have are not.
func TestNames(t *testing.T) {
	l := start(t, "hosts: {a: {}}", Options{})
	names, err := Names()
	if err != nil || !slices.Contains(names, l.Name) {
		t.Errorf("%v, %v: want %s among them", names, err, l.Name)
	}
	table := "Num RefCount Protocol Flags Type St Inode Path\n" +
		"0: 2 0 10000 1 01 7 @pathwise-lab-0-two\n0: 3 0 0 1 03 8 @pathwise-lab-0-two\n0: 3 0 0 1 03 9\n" +
		"0: 2 0 10000 1 01 7 @pathwise-lab-0-one\n0: 2 0 10000 1 01 7 @pathwise-lab-0-../x\n0: 2 0 10000 1 01 7 @pathwise-lab-01-x\n"
	names, err = namesIn(strings.NewReader(table), "@pathwise-lab-0-")
	if diff := cmp.Diff([]string{"one", "two"}, names); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// One of two parallel links is replaced whole, while the other stays; what nobody has seen is not replaced.
func TestReplace(t *testing.T) {
	l := start(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], delay: 1ms, rate: 10mbit}, {between: [a, b], delay: 2ms}]", Options{})
	shapes, err := l.Shapes()
	if err != nil || len(shapes) != 4 {
		t.Fatalf("%d shapes, %v", len(shapes), err)
	}
	was := [2]Shape{shapes[0], shapes[1]}
	loss, _, err := link.ParseSetting("loss={gilbert: {ratio: 1%, burst: 5}}")
	if err != nil {
		t.Fatal(err)
	}
	now := [2]Shape{loss, was[1]}
	if err := l.Replace(Replacement{Link: 0, Was: was, Now: now}); err != nil {
		t.Fatal(err)
	}
	expectShapes(t, l, "{loss: {gilbert: {ratio: 1%, burst: 5}}}", "{rate: 10mbit, delay: 1ms}", "{delay: 2ms}", "{delay: 2ms}")
	if err := l.Replace(Replacement{Link: 0, Was: was, Now: now}); !errors.Is(err, ErrStale) {
		t.Errorf("a link that is otherwise than believed: %v", err)
	}
	half, _, err := link.ParseSetting("duplex=half")
	if err != nil {
		t.Fatal(err)
	}
	for want, r := range map[string]Replacement{
		"link: want one from 0 to 1":       {Link: 2},
		"duplex: half: needs a rate":       {Link: 1, Was: [2]Shape{shapes[2], shapes[3]}, Now: [2]Shape{half, half}},
		"duration: -1s: want at most 24h":  {Link: 1, Duration: -time.Second},
		"duration: 48h0m0s: want at most ": {Link: 1, Duration: 48 * time.Hour},
	} {
		var bad interface{ BadInput() bool }
		if err := l.Replace(r); err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &bad) || !bad.BadInput() {
			t.Errorf("%v, want bad input: %s", err, want)
		}
	}
}

// A link with a long trace can be changed, and have it back: what files hold stays in the engine.
func TestReplaceWithFiles(t *testing.T) {
	opportunities := make([]int64, 400_000) // 2 MB of JSON, twice
	for i := range opportunities {
		opportunities[i] = int64(i/15 + 1)
	}
	spec := mustParse(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], trace: {opportunities: [1]}}]")
	spec.Links[0].Trace = &link.Trace{File: "cell.trace", Opportunities: opportunities}
	l, err := Start(t.Context(), spec, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	shapes, err := l.Shapes()
	if err != nil || shapes[0].Trace.Opportunities != nil {
		t.Fatalf("%v: %d opportunities", err, len(shapes[0].Trace.Opportunities))
	}
	none, _, err := link.ParseSetting("trace=none")
	if err != nil {
		t.Fatal(err)
	}
	was, now := [2]Shape{shapes[0], shapes[1]}, [2]Shape{none, shapes[1]}
	for _, r := range []Replacement{{Was: was, Now: now}, {Was: now, Now: was}} {
		if err := l.Replace(r); err != nil {
			t.Fatal(err)
		}
	}
	expectShapes(t, l, `{trace: {file: "cell.trace"}}`, `{trace: {file: "cell.trace"}}`)
}

func expectShapes(t *testing.T, l *Lab, want ...string) {
	t.Helper()
	shapes, err := l.Shapes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range shapes {
		got = append(got, s.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shapes (-want +got):\n%s", diff)
	}
}

// A change for a time goes by itself, and leaves what others changed meanwhile.
func TestReplaceForATime(t *testing.T) {
	n, err := NewNetwork(NewPlan(mustParse(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], delay: 1ms}]")), nil)
	if err != nil {
		t.Fatal(err)
	}
	down := link.Bool(true)
	was := [2]Shape{n.shapes[0], n.shapes[1]}
	now := [2]Shape{was[0].Over(&Shape{Down: &down}), was[1].Over(&Shape{Down: &down})}
	if err := n.replace(0, &Replacement{Was: was, Now: now, Duration: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	n.SetLinks(0, 0, 1, Shape{Delay: ptr(Delay(5 * time.Millisecond))}, Shape{})
	for _, c := range []struct {
		at   time.Duration
		want string
	}{{1999 * time.Millisecond, "{delay: 5ms, down: true} {delay: 1ms, down: true}"}, {2 * time.Second, "{delay: 5ms} {delay: 1ms}"}} {
		n.Advance(int64(c.at))
		if got := n.shapes[0].String() + " " + n.shapes[1].String(); got != c.want || n.directions[0].Down() != strings.Contains(c.want, "down") {
			t.Errorf("after %v: %s, want %s", c.at, got, c.want)
		}
	}
}

// Of changes for a time that overlap each ends what it did, whichever was made first: what is left is what was there before both.
// One that changes nothing would end nothing, and is refused.
func TestReplaceForATimeTwice(t *testing.T) {
	loss := func(percent float64) *Shape { return &Shape{Loss: chance.Independent(percent / 100)} }
	for name, c := range map[string]struct {
		firstEnds, secondEnds time.Duration
		between               string // the two ends
	}{
		"one after the other": {60 * time.Second, 90 * time.Second, "{delay: 1ms, loss: 5%}"},
		"one in the other":    {60 * time.Second, 40 * time.Second, "{delay: 1ms, loss: 1%}"},
		"both at once":        {60 * time.Second, 60 * time.Second, "{delay: 1ms}"},
	} {
		n, err := NewNetwork(NewPlan(mustParse(t, "hosts: {a: {}, b: {}}\nlinks: [{between: [a, b], delay: 1ms}]")), nil)
		if err != nil {
			t.Fatal(err)
		}
		const second = 30 * time.Second // when it is made
		for at, r := range []struct {
			change *Shape
			ends   time.Duration
		}{{loss(1), c.firstEnds}, {loss(5), c.secondEnds}} {
			made := time.Duration(at) * second
			n.Advance(int64(made))
			was := [2]Shape{n.shapes[0], n.shapes[1]}
			now := [2]Shape{was[0].Over(r.change), was[1]}
			if err := n.replace(int64(made), &Replacement{Was: was, Now: now, Duration: r.ends - made}); err != nil {
				t.Fatal(err)
			}
			if err := n.replace(int64(made), &Replacement{Was: now, Now: now, Duration: time.Hour}); err == nil || !strings.Contains(err.Error(), "so already") {
				t.Errorf("a change of nothing: %v", err)
			}
		}
		n.Advance(int64(min(c.firstEnds, c.secondEnds)))
		if got := n.shapes[0].String(); got != c.between {
			t.Errorf("%s, after the first end: %s, want %s", name, got, c.between)
		}
		n.Advance(int64(max(c.firstEnds, c.secondEnds)))
		if got := n.shapes[0].String(); got != "{delay: 1ms}" {
			t.Errorf("%s, after both: %s", name, got)
		}
	}
}
