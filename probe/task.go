package probe

import (
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Options are what the host that does a Task adds to it. The zero value serves every Task but those that run a program.
type Options struct {
	// Responder is what the target opened for this run; nil: the Task's own port, and no secret.
	Responder *measure.Responder
	// Allow is asked before a program is started, with its path and arguments, and refuses by an error. nil: none may run.
	Allow func(argv []string) error
	// Before is called on the thread that starts a program and nothing else, and may change how it starts; nil: none.
	Before func(*exec.Cmd) error
	// Started is called as soon as a program runs, with the number of its process, which leads a group of its own; nil: nobody
	// wants to know.
	Started func(pid int)

	// Attended says that somebody waits for the outcome and can end it: what keeps a run to its place in a plan is left out.
	Attended bool
	// Source is what a throughput test sends, until it ends; nil: bytes of no meaning.
	Source io.Reader

	// What a run shows on its way, each as it happens. A kind calls only what suits it; nil: nobody watches.
	Interval func(measure.Interval)
	Echo     func(measure.Echo)
	Hop      func(measure.Hop)
	Line     func(string)
	// Say gets each of them as a line for people.
	Say func(line string)
}

// watch returns what a kind calls for each thing that happens on the way, such as an echo. It passes the thing to as, and the line
// that describes it to say; either may be nil. Where both are, so is what is returned.
func watch[T any](as func(T), say func(string), line func(T) string) func(T) {
	if as == nil && say == nil {
		return nil
	}
	return func(v T) {
		if as != nil {
			as(v)
		}
		if say != nil {
			say(line(v))
		}
	}
}

// New returns what does a Task on this host. The error is the Task's: its BadInput is true.
func New(task measure.Task, o Options) (measure.Prober, error) {
	m, err := readTask(task, o)
	if err != nil {
		return nil, err
	}
	m.equip(o)
	return m, m.Validate()
}

// Validate says what is wrong with a Task's kind or parameters, in one line that begins with the parameter's name. It
// asks nothing of this host, so that a mesh can be checked anywhere. The target may be left out.
func Validate(task measure.Task) error {
	_, err := readTask(withTarget(task), Options{})
	return err
}

// Demand reckons what a Task asks of the path and of both ends.
//
// A test is exclusive if it may send faster than LightRate in a direction: without a rate it takes all that the path
// has. So TCP without a rate is exclusive, and UDP or TCP at 1 Mbit/s or less is not. A ping is, if it takes more than that of
// the link's time, headers and all. The packet trains of capacity
// are, though they last for milliseconds: other traffic between their packets spoils what they measure, and they fill
// the queue before the narrowest link. A program is, since nobody knows what it sends; a mesh file can say otherwise.
//
// Bytes are 0 where they are not known: of a test without a rate or an amount, and of a program, whose duration is not
// known either.
func Demand(task measure.Task) (measure.Demand, error) {
	m, err := readTask(withTarget(task), Options{})
	if err != nil {
		return measure.Demand{}, err
	}
	return m.demand(), nil
}

// withTarget lets a Task be checked before it has a target.
func withTarget(task measure.Task) measure.Task {
	if task.Target == "" {
		task.Target = "target"
	}
	return task
}

func readTask(task measure.Task, o Options) (method, error) {
	if k, known := KindOf(task.Kind); known {
		return k.read(task, o)
	}
	var names []string
	for _, k := range catalogue() {
		names = append(names, k.Name)
	}
	return nil, &sock.InputError{Field: "probe", Value: task.Kind,
		Remedy: "there is no such kind" + meant(task.Kind, names, "give one of")}
}

// unknown is the error for a parameter that a kind does not have.
func (k *Kind) unknown(name string, v any) error {
	var names []string
	for _, p := range k.Parameters {
		if p.Flag == name {
			return &sock.InputError{Field: name, Value: fmt.Sprint(v),
				Remedy: k.Name + " has no such parameter; in a task it is " + p.Name}
		}
		names = append(names, p.Name)
	}
	return &sock.InputError{Field: name, Value: fmt.Sprint(v),
		Remedy: k.Name + " has no such parameter" + meant(name, names, "it has")}
}

// meant is a hint at the name that was probably meant, or where none is near, at all names.
func meant(written string, names []string, list string) string {
	written = strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(written))
	for _, name := range names { // interval-seconds means interval
		if written == name || len(name) > 2 && strings.HasPrefix(written, name+"-") {
			return "; did you mean " + name + "?"
		}
	}
	if hint := document.Meant(written, names); hint != "" {
		return hint
	}
	return "; " + list + " " + strings.Join(names, ", ")
}
