package main

import (
	"slices"

	"github.com/spf13/pflag"
)

// flagAmong is the first flag of a call, by the alphabet, that has one of these names; nil: none has.
func flagAmong(flags *pflag.FlagSet, names ...string) *pflag.Flag {
	return firstFlag(flags, func(name string) bool { return slices.Contains(names, name) })
}

// flagBeside is the first flag of a call, by the alphabet, that has none of these names; nil: each has one.
func flagBeside(flags *pflag.FlagSet, names ...string) *pflag.Flag {
	return firstFlag(flags, func(name string) bool { return !slices.Contains(names, name) })
}

// flagUnfit is the first flag of a call, by the alphabet, that does not hold for it; nil: all do. In a mode of the command (on), such as trace --live, the flags of both lists
// hold; else all but those of only.
func flagUnfit(flags *pflag.FlagSet, on bool, with, only []string) *pflag.Flag {
	if on {
		return flagBeside(flags, slices.Concat(with, only)...)
	}
	return flagAmong(flags, only...)
}

func firstFlag(flags *pflag.FlagSet, which func(name string) bool) (first *pflag.Flag) {
	flags.Visit(func(f *pflag.Flag) {
		if first == nil && which(f.Name) {
			first = f
		}
	})
	return first
}
