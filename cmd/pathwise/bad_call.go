package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/input"
)

// badFlag says which flag held the value that err complains of.
func badFlag(flag string, err error) error { return input.Errorf("--%s: %w", flag, err) }

// requireKnownArguments says in words of our own what is wrong with a call, for every command below root, and makes a command
// that only groups others refuse a name it does not know.
func requireKnownArguments(c *cobra.Command) {
	check := c.Args
	if c.HasSubCommands() && c.RunE == nil {
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return unknownCommand(c, args[0])
		}
	} else if check != nil {
		c.Args = func(c *cobra.Command, args []string) error { return checkArguments(c, check, args) }
	}
	for _, child := range c.Commands() {
		requireKnownArguments(child)
	}
}

// helpCommand is cobra's own, but for a name that it does not know.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command", Example: "  pathwise help throughput", Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 && c.HasSubCommands() {
				return unknownCommand(c, rest[0])
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// promised are commands of the finished program, by the command that they are under: those that this version does not have it
// refuses by name.
var promised = map[string][]string{
	"pathwise":      {"analyze", "capacity", "capture", "host", "mtu", "owd", "sockets", "transact"},
	"pathwise calc": {"ber", "hstcp", "propagate", "serialize", "turns", "wrap"},
}

func unknownCommand(c *cobra.Command, name string) error {
	var names []string
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			names = append(names, child.Name())
		}
	}
	if slices.Contains(promised[c.CommandPath()], name) {
		return input.Errorf("%q: not in this version, which has %s", name, strings.Join(names, ", "))
	}
	return input.Errorf("%q: no such command%s; see %s --help", name, document.Meant(name, names), c.CommandPath())
}

// checkArguments names the first argument that is missing, or too many.
func checkArguments(c *cobra.Command, check cobra.PositionalArgs, args []string) error {
	if err := check(c, args); err == nil || input.Bad(err) { // which names it
		return err
	}
	for fewer := len(args) - 1; fewer >= 0; fewer-- {
		if check(c, args[:fewer]) == nil {
			return input.Errorf("%q: one argument too many; usage: %s", args[fewer], c.UseLine())
		}
	}
	return input.Errorf("%s: none given; usage: %s", argumentName(c, len(args)), c.UseLine())
}

// argumentName is what a command's usage calls its i-th argument; the last may be repeated.
func argumentName(c *cobra.Command, i int) string {
	var names []string
	for _, name := range strings.Fields(c.Use)[1:] {
		if name == "|" { // what comes after is instead of an argument
			break
		}
		if name != "--" {
			names = append(names, strings.TrimRight(name, "…."))
		}
	}
	return names[min(i, len(names)-1)]
}

// flagError says in words of our own what is wrong with a flag.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var syntax *pflag.InvalidSyntaxError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return input.Errorf("-%s: no such flag; see %s --help", unknown.GetSpecifiedName(), c.CommandPath())
	case errors.As(err, &unknown):
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		return input.Errorf("%s: no such flag%s; see %s --help", name, document.Meant(name, names), c.CommandPath())
	case errors.As(err, &empty):
		return badFlag(empty.GetFlag().Name, fmt.Errorf("no value given; want %s", flagWants(empty.GetFlag(), "")))
	case errors.As(err, &invalid):
		return badFlag(invalid.GetFlag().Name, fmt.Errorf("%q: want %s", invalid.GetValue(), flagWants(invalid.GetFlag(), invalid.GetValue())))
	case errors.As(err, &syntax):
		return input.Errorf("%q: no flag; want --NAME or --NAME=VALUE; see %s --help", syntax.GetSpecifiedFlag(), c.CommandPath())
	}
	return input.Errorf("%w; see %s --help", err, c.CommandPath())
}

// flagWants says what a flag's value is to be instead of a text.
func flagWants(f *pflag.Flag, text string) string {
	if v, is := f.Value.(*parameterValue); is {
		return v.wants(text)
	}
	switch f.Value.Type() {
	case "int", "count", "uint64", "int64", "uint":
		return "a whole number: " + f.Usage
	case "float64":
		return "a number: " + f.Usage
	case "bool":
		return "true or false, or nothing"
	}
	return f.Usage
}
