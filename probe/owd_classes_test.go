package probe

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

func TestReadClasses(t *testing.T) {
	for text, want := range map[string][]int{"46": {46}, "ef,be,le": {46, 0, 1}, "EF": {46}, "af11,AF43,cs1,cs7,va,63": {10, 38, 8, 56, 44, 63},
		"ef,46": nil, "be,df": nil, "": nil, "ef,": nil, "64": nil, "-1": nil, "af14": nil, "af51": nil, "cs8": nil, "0,1,2,3,4,5,6,7,8": nil} {
		got, err := readClasses(text)
		if (err == nil) != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for index, want := range []int{0, 1, 2, 1, 2, 0, 2, 0, 1, 0} {
		if got := classOf(index, 3); got != want {
			t.Errorf("packet %d is of class %d, want %d", index, got, want)
		}
	}
	if err := (OWD{Target: "a", Proto: protoOWAMP, Classes: "ef,be"}).Validate(); err == nil || !strings.Contains(err.Error(), "one mark") {
		t.Errorf("classes of OWAMP: %v", err)
	}
}

// Which class is served first, and which loses more, is told of those that differ, and of no others.
func TestCompareClasses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	class := func(name string, wait, loss float64) classFigures {
		c := classFigures{name: name}
		for range 300 {
			lost := random.Float64() < loss
			delay := 0.01 + wait*random.ExpFloat64() + 0.0001*random.Float64()
			if lost {
				delay = stat.Lost
			}
			c.delays, c.lost = append(c.delays, delay), append(c.lost, lost)
		}
		return c
	}
	for name, c := range map[string]struct {
		all       []classFigures
		want, not []string
	}{
		"alike":          {[]classFigures{class("ef", 0.001, 0), class("be", 0.001, 0), class("le", 0.001, 0)}, []string{"no difference"}, nil},
		"ef first":       {[]classFigures{class("be", 0.005, 0), class("ef", 0.0001, 0)}, []string{"ef is served before be"}, []string{"loses"}},
		"le loses":       {[]classFigures{class("ef", 0.001, 0), class("le", 0.001, 0.2)}, []string{"le loses more than ef"}, nil},
		"all of le lost": {[]classFigures{class("le", 0.001, 1), class("ef", 0.001, 0)}, []string{"le loses more than ef: 100"}, []string{"served"}},
	} {
		got := compareClasses(c.all)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		for _, not := range c.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %q", name, got)
			}
		}
	}
	c := classFigures{name: "le", delays: []float64{0.01, math.NaN(), 0.03}, lost: []bool{false, true, false}}
	if s := c.sample(); s.DSCP != 1 || s.Sent != 3 || s.Lost != 1 || *s.MinSeconds != 0.01 || math.Abs(*s.MedianSeconds-0.02) > 1e-12 {
		t.Errorf("%+v", s)
	}
}

// The packets of each class are as many, and carry their marks; what a reflector loses of one is told of that one.
func TestOWDClasses(t *testing.T) {
	port := farEnd{fate: func(index int) fate {
		if classOf(index, 2) == 1 && index%3 == 0 {
			return lostThere
		}
		return reflect
	}}.serve(t)
	r, err := OWD{Target: "127.0.0.1", Port: port, Count: 240, Interval: time.Millisecond, Timeout: 200 * time.Millisecond, Classes: "ef,be"}.Do(t.Context())
	if err != nil || len(r.Samples.Classes) != 2 || r.Samples.Echoes[0].Class != "ef" || r.Samples.Echoes[1].Class != "be" || r.Parameters["dscp"] != "ef,be" {
		t.Fatalf("%v, %+v, first %+v, parameters %v", err, r.Samples.Classes, r.Samples.Echoes[0], r.Parameters)
	}
	ef, be := r.Samples.Classes[0], r.Samples.Classes[1]
	priority, _ := r.Parameters["priority"].(string)
	if ef.Lost != 0 || be.Lost < 35 || ef.Sent+be.Sent < 235 || !strings.Contains(priority, "be loses more than ef") {
		t.Errorf("ef %+v, be %+v, %q", ef, be, priority)
	}
	var text strings.Builder
	WriteText(&text, r)
	if !strings.Contains(text.String(), "forward: be loses") && !strings.Contains(text.String(), "be loses more") {
		t.Errorf("the text says nothing of it:\n%s", &text)
	}
	one, err := readTask(measure.Task{Kind: "owd", Target: "a", Parameters: map[string]any{"dscp": "ef"}}, Options{})
	if p, is := one.(*OWD); err != nil || !is || p.DSCP != 46 || p.Classes != "" {
		t.Errorf("%+v, %v", one, err)
	}
}
