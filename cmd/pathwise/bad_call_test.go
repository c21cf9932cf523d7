package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// everyCommand is each command of the program that does something by itself, as its words.
func everyCommand(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	all := map[string]*cobra.Command{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			walk(child)
		}
		if !c.HasSubCommands() && c.Name() != "help" {
			all[strings.TrimPrefix(c.CommandPath(), "pathwise ")] = c
		}
	}
	walk(rootCommand(&session{out: io.Discard, err: io.Discard}))
	if len(all) < 40 {
		t.Fatalf("the walk found %d commands", len(all))
	}
	return all
}

// raw is what the command library says by itself.
var raw = []string{"accepts ", "requires at least", "unknown flag", "unknown shorthand", "required flag", "invalid argument", "strconv", "needs an argument",
	"bad flag syntax", "unknown command", "invalid syntax", "Unknown help topic"}

// refused runs a wrong call and returns its one line of complaint.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(args, strings.NewReader(""), &stdout, &stderr)
	line := strings.TrimSuffix(stderr.String(), "\n")
	if status != exitBadCall || strings.Contains(line, "\n") || !strings.HasPrefix(line, "pathwise: ") || stdout.Len() > 0 {
		t.Errorf("pathwise %q: exit status %d, want %d and one line; printed %q and %q", args, status, exitBadCall, stdout.String(), line)
	}
	for _, r := range raw {
		if strings.Contains(line, r) {
			t.Errorf("pathwise %q: %q is the library's own", args, line)
		}
	}
	return strings.TrimPrefix(line, "pathwise: ")
}

// Every command names the argument that is missing, and the one that is too many.
func TestEveryCommandNamesArguments(t *testing.T) {
	for words, c := range everyCommand(t) {
		call := strings.Fields(words)
		if c.Args == nil || c.DisableFlagParsing {
			continue
		}
		least := 0
		for least < 5 && c.Args(c, slices.Repeat([]string{"x"}, least)) != nil {
			least++
		}
		for n := range least {
			got := refused(t, slices.Concat(call, slices.Repeat([]string{"x"}, n))...)
			name, _, _ := strings.Cut(got, ":")
			if !strings.Contains(c.Use, name) || !strings.Contains(got, ": none given; usage: "+c.UseLine()) {
				t.Errorf("pathwise %s with %d arguments: %q names no argument of %q", words, n, got, c.Use)
			}
		}
		most := least
		for most < 9 && c.Args(c, slices.Repeat([]string{"x"}, most+1)) == nil {
			most++
		}
		if most < 9 { // else it takes any number
			got := refused(t, slices.Concat(call, slices.Repeat([]string{"x"}, most), []string{"extra"})...)
			if !strings.HasPrefix(got, `"extra": one argument too many; usage: `+c.UseLine()) {
				t.Errorf("pathwise %s with one more than %d arguments: %q", words, most, got)
			}
		}
	}
}

// Every command refuses flags that it does not have, and hints at the nearest; and every flag a lack of value.
func TestEveryCommandNamesFlags(t *testing.T) {
	for words, c := range everyCommand(t) {
		call := strings.Fields(words)
		if c.DisableFlagParsing {
			continue
		}
		if got := refused(t, append(call, "--no-such-flag")...); got != "--no-such-flag: no such flag; see pathwise "+words+" --help" {
			t.Errorf("pathwise %s --no-such-flag: %q", words, got)
		}
		if got := refused(t, append(call, "-Y")...); got != "-Y: no such flag; see pathwise "+words+" --help" {
			t.Errorf("pathwise %s -Y: %q", words, got)
		}
		if got := refused(t, append(call, "--jsno")...); !strings.Contains(got, "did you mean --json?") {
			t.Errorf("pathwise %s --jsno: %q", words, got)
		}
		refused(t, append(call, "--=")...)
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if f.NoOptDefVal == "" {
				if got := refused(t, append(call, "--"+f.Name)...); !strings.HasPrefix(got, "--"+f.Name+": no value given; want ") {
					t.Errorf("pathwise %s --%s: %q", words, f.Name, got)
				}
			}
		})
	}
}

// readEarly are flags whose text is read as a number with its unit, or is one of a few words.
var readEarly = []string{"proto", "interval", "timeout", "time", "wait", "max-time", "rate", "window", "len", "bytes", "format", "fail-on", "cc", "length"}

// readAsNumber says whether the text of a command's flag is read as a number with its unit, or is one of a few words.
func readAsNumber(words string, f *pflag.Flag) bool {
	return f.Value.Type() == "string" && (slices.Contains(readEarly, f.Name) || strings.HasPrefix(words, "calc "))
}

// Every flag whose value can be wrong by itself says so in one line that names it, the value, and what would be right.
func TestEveryFlagNamesBadValues(t *testing.T) {
	const bad = "x,y z"
	seen := 0
	for words, c := range everyCommand(t) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			switch kind := f.Value.Type(); {
			case c.DisableFlagParsing, f.Name == "help":
				return
			case readAsNumber(words, f):
				call := strings.Fields(words)
				for least := 0; c.Args(c, slices.Repeat([]string{"x"}, least)) != nil; least++ {
					call = append(call, "127.0.0.1")
				}
				if strings.HasPrefix(words, "calc ") { // with what else it needs
					example, _, _ := strings.Cut(c.Example, "\n")
					call = strings.Fields(example)[1:]
				}
				seen++
				if got := refused(t, append(call, "--"+f.Name+"="+bad)...); !strings.HasPrefix(got, "--"+f.Name) || !strings.Contains(got, bad) {
					t.Errorf("pathwise %s --%s=%s: %q", words, f.Name, bad, got)
				}
				return
			case strings.HasPrefix(kind, "string"):
				return // see TestEveryFlagNamesBadTexts
			}
			seen++
			got := refused(t, append(strings.Fields(words), "--"+f.Name+"="+bad)...)
			if !strings.HasPrefix(got, "--"+f.Name+": \""+bad+"\": want ") {
				t.Errorf("pathwise %s --%s=%s: %q", words, f.Name, bad, got)
			}
		})
	}
	if seen < 50 {
		t.Errorf("only %d flags have types of their own", seen)
	}
}

// What other versions have, and what none has, is refused by name.
func TestUnknownCommands(t *testing.T) {
	root := rootCommand(&session{out: io.Discard, err: io.Discard})
	for under := range promised {
		call := strings.Fields(under)[1:]
		for _, name := range promised[under] {
			if c, rest, err := root.Find(append(call, name)); err == nil && len(rest) == 0 && c.Name() == name {
				continue // this version has it
			}
			if got := refused(t, append(call, name, "x")...); !strings.HasPrefix(got, `"`+name+`": not in this version, which has `) {
				t.Errorf("%s %s: %q", under, name, got)
			}
		}
	}
	for call, want := range map[string]string{
		"frobnicate":      `"frobnicate": no such command; see pathwise --help`,
		"throughputt":     `"throughputt": no such command; did you mean throughput?; see pathwise --help`,
		"mesh chekc":      `"chekc": no such command; did you mean check?; see pathwise mesh --help`,
		"help frobnicate": `"frobnicate": no such command; see pathwise --help`,
		"help mesh chekc": `"chekc": no such command; did you mean check?; see pathwise mesh --help`,
	} {
		if got := refused(t, strings.Fields(call)...); got != want {
			t.Errorf("pathwise %s:\ngot  %s\nwant %s", call, got, want)
		}
	}
}

// The contract's commands are all there, or known not to be in this version yet.
func TestContractsCommands(t *testing.T) {
	contract := map[string]string{
		"pathwise":      "ping owd trace mtu throughput capacity transact diagnose analyze capture sockets host calc explain lab respond mesh serve agent demo version",
		"pathwise calc": "bdp window mathis lossbudget slowstart recovery overhead serialize propagate transfer turns wrap ber hstcp",
		"pathwise lab":  "up exec set route show truth capture record run faults topologies from gateway down",
		"pathwise mesh": "init check plan deploy run diagnose status account token export import reparse backup restore",
	}
	root := rootCommand(&session{out: io.Discard, err: io.Discard})
	for path, names := range contract {
		parent, _, err := root.Find(strings.Fields(path)[1:])
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.FieldsSeq(names) {
			there := slices.ContainsFunc(parent.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
			if !there && !slices.Contains(promised[path], name) {
				t.Errorf("%s %s: there is none, and it is not refused as not in this version", path, name)
			}
		}
	}
}
