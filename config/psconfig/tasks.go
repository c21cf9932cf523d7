package psconfig

import (
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/config"
)

// schedule is a schedule of a template.
type schedule struct {
	fields []pair
	once   bool // it does not repeat
}

// schedules reads schedules.
func (i *importer) schedules(root *object) {
	schedules := root.child("schedules")
	for _, name := range schedules.keys() {
		o := schedules.child(name)
		repeat, slip := o.text("repeat"), o.text("slip")
		every, ok := parseISO(repeat)
		switch {
		case repeat == "":
			i.note(o.path, "does not repeat: its tests are off in the mesh file, to be run on demand")
			every = 24 * time.Hour
		case !ok || every < config.MinEvery || every > config.MaxEvery:
			i.note(o.at("repeat"), "%q is no time from 1 s to 366 d: its tests are once a day", repeat)
			every = 24 * time.Hour
		}
		s := schedule{[]pair{{"every", shortTime(every)}}, repeat == ""}
		if d, ok := parseISO(slip); ok {
			s.fields = append(s.fields, pair{"slot", shortTime(min(d, every))})
		} else if slip != "" {
			i.note(o.at("slip"), notCarried)
		}
		if o.yes("sliprand") {
			i.note(o.at("sliprand"), "the planner draws the order at random in any case")
		}
		o.close()
		i.timed[name] = s
	}
}

// tasks reads tasks: each becomes a test.
func (i *importer) tasks(root *object) {
	tasks := root.child("tasks")
	for _, name := range tasks.keys() {
		o := tasks.child(name)
		g, hasGroup := i.grouped[o.text("group")]
		t, hasTool := i.tools[o.text("test")]
		if !hasGroup || !hasTool {
			i.note(o.path, "its group or its test is not carried over, and so it is not")
			continue
		}
		if g.shape == "list" {
			i.note(o.path, "tests of single hosts have no counterpart yet: %s", notCarried)
			continue
		}
		i.task(name, o, g, t)
		o.close()
	}
}

func (i *importer) task(name string, o *object, g group, t tool) {
	online := !o.yes("disabled")
	schedule := o.text("schedule")
	timing, has := i.timed[schedule]
	switch {
	case has:
		online = online && !timing.once
	case t.every > 0:
		timing.fields = []pair{{"every", shortTime(t.every)}}
	default:
		i.note(o.path, "has no schedule: it is off in the mesh file, to be run on demand")
		timing.fields, online = []pair{{"every", "1d"}}, false
	}
	test := i.name("tests", name)
	fields := []pair{{"name", test}, {"tool", t.name}, {"group", g.name}, {"schedule", timing.fields}}
	if t.family != 0 {
		fields = append(fields, pair{"family", fmt.Sprintf("ipv%d", t.family)})
	}
	if !online {
		fields = append(fields, pair{"online", false})
	}
	i.out["tests"] = append(i.out["tests"], pair{"", fields})
	for _, x := range g.excludes {
		i.out["exclude"] = append(i.out["exclude"],
			pair{"", []pair{{"test", test}, {"source", x[0]}, {"target", x[1]}}})
	}
	for _, p := range []pair{{"scheduled-by", "the source runs the test"}, {"tools", "our own probes measure"}} {
		if v := o.take(p.key); v != nil {
			i.note(o.at(p.key), "%v: %s", v, p.value)
		}
	}
}
