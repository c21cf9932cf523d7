package probe

import (
	"fmt"
	"net/netip"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/parse"
	"github.com/pathwise-net/pathwise/sock"
)

// Command measures by a program that is not ours: it runs the program without a shell, keeps what it prints, and reads
// metrics out of that. Its Result has all of the output in Samples.Output, so that better rules can read it again.
//
// How it runs is a Program's. One that ends with a status other than 0 is an error, but what it printed is read all the same.
type Command struct {
	Target string
	Family sock.Family // of the address that {target} and {source} stand for; zero: Target as it is written
	// Argv is the program and its arguments, with placeholders: {target}, {source} (this host's address towards the
	// target), {port} (that the target opened), and the names in Values. {{ and }} stand for braces. Of the program's own
	// name nothing can be filled in.
	Argv   []string
	Values map[string]string
	Rules  []parse.Rule
	Port   int // 0: {port} has no value

	// Allow is asked before the program starts, with all that is filled in. nil: no program may run.
	Allow func(argv []string) error
	// Line is called for each line of both outputs as it comes, by one goroutine at a time; cut at 4 KiB. It may be nil.
	Line func(string)
	// Before and Started are called around the program's start: see Program.
	Before  func(*exec.Cmd) error
	Started func(pid int)

	parser *parse.Parser
}

// KeptBytes is how much is kept of each of a program's outputs: half from the beginning, half from the end, where
// programs sum up.
const KeptBytes = parse.MaxInput

func commandKind() Kind {
	return newKind(declaration[Command]{
		kind:   Kind{Name: "command", Meaning: "what any other program measures"},
		target: func(c *Command) *string { return &c.Target },
		fields: []field[Command]{
			{Name: "argv", Outward: true, Default: "required", Meaning: "the program and its arguments, with placeholders such as {target}",
				binding: decoded("list of texts", `give the program and its arguments, such as ["ping", "-c", "3", "{target}"]`,
					func(c *Command) *[]string { return &c.Argv })},
			{Name: "values", Outward: true, Default: "none", Meaning: "what placeholders other than {target}, {source} and {port} stand for",
				binding: decoded("texts by name", `give texts by name, such as {"file": "/data/1GB"}`,
					func(c *Command) *map[string]string { return &c.Values })},
			{Name: "parse", Outward: true, Default: "none", Meaning: "where the metrics stand in what it prints: see parse.Rule",
				binding: decoded("list of rules", `give rules such as {"metric": "rtt_min_seconds", "regex": "min ([0-9.]+ ms)"}`,
					func(c *Command) *[]parse.Rule { return &c.Rules })},
			familyField(func(c *Command) *sock.Family { return &c.Family }),
		},
	})
}

func (c *Command) equip(o Options) {
	c.Allow, c.Line, c.Before, c.Started = o.Allow, o.Line, o.Before, o.Started
	if o.Responder != nil {
		c.Port = o.Responder.Port
	}
}

// demand assumes that a program may fill a link, for a time that nobody knows.
func (c *Command) demand() measure.Demand { return measure.Demand{Exclusive: true} }

// resultBytes are inferred from those of others. Output, which is kept with the samples, is not known before.
func (c *Command) resultBytes() float64 { return 300 + 70*float64(len(c.Rules)) }

// placeholder is what is filled in, or a brace that is doubled to be one.
var placeholder = regexp.MustCompile(`\{\{|\}\}|\{([a-z][a-z0-9_.]*)\}`)

// Validate says what is wrong with the parameters, as an input.Error or parse.RuleError, or returns nil.
func (c *Command) Validate() error {
	if err := checkTarget(c.Target, c.Family); err != nil {
		return err
	}
	if len(c.Argv) == 0 || c.Argv[0] == "" || strings.HasPrefix(c.Argv[0], "-") || placeholder.MatchString(c.Argv[0]) {
		return &input.Error{Field: "argv", Value: strings.Join(c.Argv, " "),
			Remedy: "begin with the name of a program, without placeholders"}
	}
	given := map[string]string{"target": "", "source": "", "port": ""}
	for name := range c.Values {
		given[name] = ""
	}
	for _, argument := range c.Argv {
		for _, found := range placeholder.FindAllStringSubmatch(argument, -1) {
			if _, known := given[found[1]]; found[1] != "" && !known {
				return &input.Error{Field: "argv", Value: argument,
					Remedy: fmt.Sprintf("give values a %q, or write {{ and }} for braces", found[1])}
			}
		}
		if strings.ContainsRune(argument, 0) {
			return &input.Error{Field: "argv", Value: argument, Remedy: "leave out the zero byte"}
		}
	}
	parser, err := parse.Compile(c.Rules)
	if err != nil {
		return fmt.Errorf("parse: %w", err)
	}
	c.parser = parser
	return nil
}

// fill puts values into the arguments. A value stays within its argument, and cannot make an option of it: one that
// begins with "-" is refused where the argument begins with it, as is an empty one that would leave nothing else.
func fill(argv []string, values map[string]string) ([]string, error) {
	filled := slices.Clone(argv)
	for i, argument := range argv {
		var failed error
		filled[i] = placeholder.ReplaceAllStringFunc(argument, func(found string) string {
			if found == "{{" || found == "}}" {
				return found[:1]
			}
			name := found[1 : len(found)-1]
			v, known := values[name]
			switch {
			case !known:
				failed = &input.Error{Field: name, Value: "", Remedy: "this run has no value for " + found}
			case strings.ContainsRune(v, 0):
				failed = &input.Error{Field: name, Value: v, Remedy: "leave out the zero byte"}
			}
			return v
		})
		if failed != nil {
			return nil, failed
		}
		ours := strings.HasPrefix(argument, "-") || strings.HasPrefix(argument, "{{") // the template's own beginning
		if !ours && strings.HasPrefix(filled[i], "-") {
			return nil, &input.Error{Field: argument, Value: filled[i],
				Remedy: "a value cannot begin an option; write the \"-\" into argv"}
		}
		if argument != "" && filled[i] == "" {
			return nil, &input.Error{Field: argument, Value: "", Remedy: "give it a value"}
		}
	}
	return filled, nil
}

// values are what placeholders stand for. What is not in Values is filled in by this host.
func (c *Command) values(target string, source netip.Addr) map[string]string {
	all := map[string]string{"target": target}
	if source.IsValid() {
		all["source"] = source.String()
	}
	if c.Port != 0 {
		all["port"] = fmt.Sprint(c.Port)
	}
	for name, v := range c.Values {
		all[name] = v
	}
	return all
}
