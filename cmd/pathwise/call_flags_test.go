package main

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestFlagsOfACall(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range []string{"a", "b", "c"} {
		flags.Bool(name, false, "")
	}
	if err := flags.Parse([]string{"--c", "--b"}); err != nil {
		t.Fatal(err)
	}
	name := func(f *pflag.Flag) string {
		if f == nil {
			return "none"
		}
		return f.Name
	}
	for got, want := range map[string]string{
		"among a: " + name(flagAmong(flags, "a")):                                     "among a: none",
		"among c, b: " + name(flagAmong(flags, "c", "b")):                             "among c, b: b",
		"beside a: " + name(flagBeside(flags, "a")):                                   "beside a: b",
		"beside b: " + name(flagBeside(flags, "b")):                                   "beside b: c",
		"beside b, c: " + name(flagBeside(flags, "b", "c")):                           "beside b, c: none",
		"with b, c: " + name(flagUnfit(flags, true, []string{"b"}, []string{"c"})):    "with b, c: none",
		"with b alone: " + name(flagUnfit(flags, true, []string{"b"}, []string{"a"})): "with b alone: c",
		"off, only c: " + name(flagUnfit(flags, false, []string{"b"}, []string{"c"})): "off, only c: c",
		"off, only a: " + name(flagUnfit(flags, false, []string{"b"}, []string{"a"})): "off, only a: none",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
