package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/sock"
)

// parameterFlags are the flags of a kind of probe, made of what it says of its parameters.
type parameterFlags struct {
	kind   probe.Kind
	over   hostFlags
	input  string
	lines  bool // of JSON
	values []*parameterValue
	files  probe.Files
	source *os.File // of the input, if one was opened
}

// add adds a flag for each parameter, or for those that are named. The family has -4 and -6.
func (f *parameterFlags) add(c *cobra.Command, only ...string) {
	f.over.add(c.Flags())
	f.addParameters(c, only...)
	f.addGroup(c)
	if f.kind.Usage.Stream {
		c.Flags().BoolVar(&f.lines, "json-stream", false, "print JSON lines: one of each interval as it ends, and at last the Result")
	}
	if f.kind.Usage.Files && len(only) == 0 {
		f.addFiles(c, "send this file of this host, or with --reverse write what comes into it; by TCP, one stream",
			"NAME in the folder of `respond --files`: write what is sent into it, which is removed after, or with --reverse send it")
	}
	if f.kind.Usage.Input {
		c.Flags().StringVar(&f.input, "input", "", "send what is read from this file, or from standard input if it is -")
	}
}

// addFiles adds the flags of files, with what each is for.
func (f *parameterFlags) addFiles(c *cobra.Command, near, far string) {
	c.Flags().StringVarP(&f.files.Near, "file", "F", "", near)
	c.Flags().StringVar(&f.files.Far, "far-file", "", far)
	c.Flags().BoolVar(&f.files.Direct, "direct", false, "read and write these files past the kernel's cache (O_DIRECT)")
}

// addGroup adds the flags of the kind that measures a group, beside those of the same name.
func (f *parameterFlags) addGroup(c *cobra.Command) {
	group, _ := probe.KindOf(f.kind.Usage.Group)
	for _, p := range group.Parameters {
		if c.Flags().Lookup(p.Name) == nil {
			v := &parameterValue{parameter: p}
			f.values = append(f.values, v)
			c.Flags().VarPF(v, p.Name, "", p.Meaning)
		}
	}
}

// group is the Task that --group asks for, with the flags of both kinds; ok is false without that flag.
func (f *parameterFlags) group(parameters map[string]any) (task measure.Task, ok bool) {
	group, ok := parameters["group"].(string)
	return measure.Task{Kind: f.kind.Usage.Group, Target: group, Parameters: parameters}, ok
}

// addParameters adds the flags of parameters alone, beside those of another kind.
func (f *parameterFlags) addParameters(c *cobra.Command, only ...string) {
	for _, p := range f.kind.Parameters {
		if p.Name == "family" || slices.Contains(f.kind.Usage.Own, p.Name) || len(only) > 0 && !slices.Contains(only, p.Name) {
			continue
		}
		v := &parameterValue{parameter: p}
		f.values = append(f.values, v)
		flag := c.Flags().VarPF(v, v.flag(), p.Short, p.Meaning)
		switch {
		case v.Type() == "bool":
			flag.NoOptDefVal, flag.DefValue = "true", f.kind.Usage.Set[p.Name]
		case p.Alone != "":
			flag.NoOptDefVal, flag.DefValue = p.Alone, ""
		case p.Refuse(p.Default) == "" && (v.Type() != "string" || !strings.Contains(p.Default, " ")):
			flag.DefValue = p.Default
		default:
			flag.Usage += " (default: " + p.Default + ")"
		}
	}
}

// set returns the parameters whose flags a call sets, and those that the kind has set without one.
func (f *parameterFlags) set(c *cobra.Command) map[string]any {
	set := map[string]any{}
	for name, text := range f.kind.Usage.Set {
		set[name] = text
	}
	for _, v := range f.values {
		if c.Flags().Changed(v.flag()) {
			set[v.parameter.Name] = v.text
		}
	}
	return set
}

// read returns the parameters that the flags set, and what this host adds to them. close ends what it opened.
func (f *parameterFlags) read(c *cobra.Command, s *session) (map[string]any, probe.Options, error) {
	o := probe.Options{Attended: true, Files: f.files}
	if !f.kind.Usage.Detail || s.verbose > 0 {
		o.Say = func(line string) { s.say("%s", line) }
	}
	if f.lines {
		s.json, s.lines = true, true
		o.Interval = func(i measure.Interval) { _ = s.event("interval", i) } // what cannot be written is told of the last line
	}
	set := f.set(c)
	if name, is := set["cc"].(string); is {
		if err := checkCongestion(name); err != nil {
			return nil, o, badFlag("cc", err)
		}
	}
	switch f.input {
	case "":
	case "-":
		o.Source = s.in
	default:
		file, err := os.Open(f.input)
		if err != nil {
			return nil, o, badFlag("input", err)
		}
		f.source, o.Source = file, file
	}
	return set, o, nil
}

// blame names the flag in what a measurement says of a free text that the call gave it.
func (f *parameterFlags) blame(c *cobra.Command, err error) error {
	var wrong *input.Error
	if !errors.As(err, &wrong) {
		return err
	}
	for _, v := range f.values {
		if p := v.parameter; p.Name == wrong.Field && p.Type == "text" && p.Values == nil && c.Flags().Changed(v.flag()) {
			return badFlag(v.flag(), fmt.Errorf("%q: %s", wrong.Value, wrong.Remedy))
		}
	}
	return err
}

func (f *parameterFlags) close() {
	if f.source != nil {
		f.source.Close()
	}
}

// target reads HOST as host does, or the URL of what another kind measures, into a Task's target and parameters; and names the kind.
func (f *parameterFlags) target(c *cobra.Command, text string, parameters map[string]any) (kind, target string, err error) {
	if f.kind.Usage.URLs == "" || !isURL(text) {
		target, err = f.host(c, text, parameters)
		return f.kind.Name, target, err
	}
	target, told, err := probe.SplitApp(text)
	if err == nil {
		err = f.agree(c, text, told, parameters)
	}
	return f.kind.Usage.URLs, target, err
}

// host reads HOST or HOST:PORT, or a URL where the kind has those. What it says beside the host becomes parameters, of which flags cannot say
// otherwise.
func (f *parameterFlags) host(c *cobra.Command, text string, parameters map[string]any) (string, error) {
	if f.kind.Usage.Hosts == "URL" {
		host, told, err := probe.SplitURL(text)
		if err != nil {
			return "", err
		}
		return host, f.agree(c, text, told, parameters)
	}
	host, port, err := sock.SplitHostPort(text)
	if err != nil || port == 0 {
		return host, err
	}
	return host, f.agree(c, text, map[string]any{"port": port}, parameters)
}

// agree adds what a text told to the parameters, where no flag says otherwise.
func (f *parameterFlags) agree(c *cobra.Command, text string, told, parameters map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(told)) {
		if c.Flags().Changed(name) && parameters[name] != fmt.Sprint(told[name]) {
			return badFlag(name, fmt.Errorf("%q: %s says %v; give one of the two", parameters[name], text, told[name]))
		}
		parameters[name] = told[name]
	}
	return nil
}

// parameterValue is the value of a flag that is a parameter of a probe.
type parameterValue struct {
	parameter probe.Parameter
	text      string
}

// flag is what the parameter is called on the command line.
func (v *parameterValue) flag() string {
	if v.parameter.Flag != "" {
		return v.parameter.Flag
	}
	return v.parameter.Name
}

func (v *parameterValue) String() string { return v.text }

// Type is how help calls a value of the parameter's type.
func (v *parameterValue) Type() string {
	switch v.parameter.Type {
	case "whole number":
		return "number"
	case "yes or no":
		return "bool"
	case "text":
		return "string"
	}
	return v.parameter.Type
}

// Set refuses what is not of the parameter's type.
func (v *parameterValue) Set(text string) error {
	if v.parameter.Several && v.text != "" {
		text = v.text + " " + text
	}
	if want := v.parameter.Refuse(text); want != "" {
		return errors.New(want)
	}
	v.text = text
	return nil
}

// wants is what would be right in place of a text.
func (v *parameterValue) wants(text string) string {
	return strings.TrimPrefix(v.parameter.Refuse(text), "give ")
}

var _ pflag.Value = (*parameterValue)(nil)

// checkCongestion asks the kernel whether it has a congestion control of that name, before anything is sent.
func checkCongestion(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil // the test itself will say why no socket can be had
	}
	socket := os.NewFile(uintptr(fd), "socket")
	defer socket.Close()
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	return sock.SetCongestion(raw, name)
}
