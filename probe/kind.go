package probe

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Kind is all that is known of one way to measure. What offers it, checks it, plans it, runs it or shows it reads this: the
// command line, mesh files, agents, the pages and their forms. Each probe makes its own, in its own file.
type Kind struct {
	Name       string // as in measure.Task
	Meaning    string
	Parameters []Parameter
	Usage      Usage  // on the command line
	Needs      []Need // of the host that does it; none: any host can
	Itself     bool   // it measures the host that it runs on, and has no target

	// Text writes what people want to know of a Result of this kind; nil: nothing but its metrics.
	Text func(io.Writer, *measure.Result)

	read func(task measure.Task, o Options) (method, error)
}

// Usage is how the command line has a kind. The zero value: it does not.
type Usage struct {
	Hosts    string // of the usage, such as HOST[:PORT]
	Several  bool   // it takes several of them
	Optional bool   // it takes none, too: then it measures this host
	Short    string
	Long     string
	Examples []string          // what comes after "pathwise ", of calls that work
	Doing    string            // what is said on a terminal while it runs, before the target: "pinging"; "": its lines say enough
	Detail   bool              // the lines that it shows on its way are for who asks for more
	Input    bool              // what it sends may come from a file
	Files    bool              // files of this host and of the target may be what is sent, or written
	Stream   bool              // it tells intervals on its way, of each of which JSON may have a line
	Group    string            // the kind that its flag --group measures in place of a host, with the flags of both; "": there is none
	URLs     string            // the kind that measures what a URL in place of a host names, with its flags; "": none does
	Set      map[string]string // parameters that a call sets where no flag says otherwise
	Own      []string          // parameters for which the command has flags of its own
}

// Parameter is one thing that a kind can be told.
type Parameter struct {
	Name    string
	Flag    string // of the command line, where it has another name there
	Short   string // its letter there; "": none
	Type    string // "whole number", "time", "rate", "size", "yes or no", "text", …
	Default string
	Meaning string
	Values  []string // all that it can be, where it is one of a few words
	// Former are words that older mesh files and Results have, with the parameters that stand for each today. They are read, and no longer offered.
	Former map[string]map[string]any

	// Several says that its flag may be given more than once: the value is all of them, with a space between.
	Several bool

	// Outward says that it runs a program, names a file of a host, or says to which port data goes. Only the mesh file sets such a
	// parameter, and there a person does: who merely may ask for tests does not.
	Outward bool

	// Alone is what its flag stands for without a value; "": it wants one, unless it is of yes or no.
	Alone string

	// Refuse returns what would be right in place of a value, such as "give a whole number from 1 to 255"; "" if it is right.
	Refuse func(value any) string
}

// method is a measurement with the parameters of a Task.
type method interface {
	measure.Prober
	Validate() error
	demand() measure.Demand
	resultBytes() float64 // of measure.Demand
	equip(o Options)
}

// bounded is a method that limits itself to the time that was planned for it.
type bounded interface{ bound() }

// catalogue is every kind, sorted by name. It is made once: an agent reads several tasks a second.
var catalogue = sync.OnceValue(func() []Kind {
	return []Kind{appKind(), auditKind(), beaconKind(), capacityKind(), commandKind(), connectKind(), fetchKind(), flowsKind(), hostKind(), mtuKind(), ndt7Kind(), owdKind(), pingKind(), socketsKind(), throughputKind(), traceKind(), transactKind()}
})

// Kinds are all kinds of Task, by name.
func Kinds() []Kind { return slices.Clone(catalogue()) }

// KindOf is the kind of a name; ok is false where there is none.
func KindOf(name string) (k Kind, ok bool) {
	for _, k := range catalogue() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// Catalogue is what a mesh file is checked by: a config.Checker.
type Catalogue struct{}

// Validate says what is wrong with a Task's kind or parameters, as the function of that name does.
func (Catalogue) Validate(task measure.Task) error { return Validate(task) }

// Outward reports whether a kind has a parameter that is Outward.
func (Catalogue) Outward(kind, parameter string) bool {
	k, _ := KindOf(kind)
	return slices.ContainsFunc(k.Parameters, func(p Parameter) bool { return p.Name == parameter && p.Outward })
}

// Itself reports whether a kind measures the host that it runs on.
func (Catalogue) Itself(kind string) bool {
	k, _ := KindOf(kind)
	return k.Itself
}

// ParameterNames are the names of the parameters that a Task can have, sorted, by the name of its kind.
func ParameterNames() map[string][]string {
	all := map[string][]string{}
	for _, k := range catalogue() {
		names := []string{}
		for _, p := range k.Parameters {
			names = append(names, p.Name)
		}
		slices.Sort(names)
		all[k.Name] = names
	}
	return all
}

// ParameterValues are all that parameters can be which are one of a few words, sorted, by the names of kind and parameter.
func ParameterValues() map[string]map[string][]string {
	all := map[string]map[string][]string{}
	for _, k := range catalogue() {
		all[k.Name] = map[string][]string{}
		for _, p := range k.Parameters {
			if p.Values != nil {
				all[k.Name][p.Name] = slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(p.Values), maps.Keys(p.Former))))
			}
		}
	}
	return all
}

// WriteText writes what people want to know of a Result: what its kind says, or else its metrics; then its notes.
func WriteText(w io.Writer, r *measure.Result) {
	if k, _ := KindOf(r.Kind); k.Text != nil {
		k.Text(w, r)
	} else {
		metricsText(w, r)
	}
	WriteNotes(w, r)
}

// WriteNotes writes what limits what a Result means, a line for each.
func WriteNotes(w io.Writer, r *measure.Result) {
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note: "+strings.TrimSpace(note))
	}
}

// metricsText writes every metric, as it is.
func metricsText(w io.Writer, r *measure.Result) {
	for _, m := range slices.Sorted(maps.Keys(r.Metrics)) {
		fmt.Fprintf(w, "%-36s %g\n", m, r.Metrics[m])
	}
}

// field is a Parameter and where it goes in the struct of its kind.
type field[T any] struct {
	Name, Default, Meaning string
	binding[T]
	Flag, Short string
	Outward     bool
	Several     bool
	Alone       string
	Former      map[string]map[string]any
}

// declaration is what a probe says of itself. T is the struct that measures.
type declaration[T any] struct {
	kind   Kind             // but for what follows from the fields
	target func(*T) *string // where the target goes
	fields []field[T]       // its parameters
}

// newKind makes a probe's Kind of what it says of itself.
func newKind[T any, M interface {
	*T
	method
}](d declaration[T]) Kind {
	k, target, fields := d.kind, d.target, d.fields
	for _, f := range fields {
		k.Parameters = append(k.Parameters, Parameter{Name: f.Name, Flag: f.Flag, Short: f.Short, Type: f.Type, Default: f.Default,
			Meaning: f.Meaning, Values: f.Values, Outward: f.Outward, Several: f.Several, Alone: f.Alone, Former: f.Former, Refuse: func(v any) string {
				if word, _ := v.(string); f.Former[word] != nil {
					return ""
				}
				return f.set(new(T), v)
			}})
	}
	known := k
	k.read = func(task measure.Task, o Options) (method, error) {
		m := M(new(T))
		*target((*T)(m)) = task.Target
		parameters := known.today(task.Parameters)
		for _, name := range slices.Sorted(maps.Keys(parameters)) {
			v := parameters[name]
			i := slices.IndexFunc(fields, func(f field[T]) bool { return f.Name == name })
			if i < 0 {
				return nil, known.unknown(name, v)
			}
			if want := fields[i].set((*T)(m), v); want != "" {
				return nil, &input.Error{Field: name, Value: fmt.Sprint(v), Remedy: want}
			}
		}
		if b, is := method(m).(bounded); is && !o.Attended {
			b.bound()
		}
		return m, m.Validate()
	}
	return k
}

// recorded are the parameters that a Result has of a measurement: those of its kind, under their names and in SI units, that
// are set or have a default of ours.
func recorded[T any](fields []field[T], of *T) map[string]any {
	set := map[string]any{}
	for _, f := range fields {
		if v := f.get(of); v != nil {
			set[f.Name] = v
		}
	}
	return set
}

// today are parameters in the words of today.
func (k *Kind) today(parameters map[string]any) map[string]any {
	for _, p := range k.Parameters {
		word, _ := parameters[p.Name].(string)
		if stands := p.Former[word]; stands != nil {
			parameters = maps.Clone(parameters)
			maps.Copy(parameters, stands)
		}
	}
	return parameters
}

// familyField is the parameter of every kind that has a target.
func familyField[T any](at func(*T) *sock.Family) field[T] {
	return field[T]{Name: "family", Default: "the first of the target's addresses that can be reached",
		Meaning: "ipv4 or ipv6: measure over this version of IP only", binding: binding[T]{Type: "text",
			Values: []string{string(sock.IPv4), string(sock.IPv6)}, set: func(into *T, v any) string {
				text, _ := v.(string)
				*at(into) = sock.Family(text)
				if text == "" || at(into).Validate() != nil {
					return "give ipv4 or ipv6"
				}
				return ""
			}, get: func(of *T) any { return unlessZero(*at(of), any(string(*at(of)))) }}}
}
