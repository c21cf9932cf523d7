package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/pathwise-net/pathwise/proto/stamp"
	"github.com/pathwise-net/pathwise/respond"
)

// accessFlags are the flags of `pathwise respond` that say who may do what.
type accessFlags struct {
	stampKey   string
	stateless  bool
	stampMarks []int
}

func (a *accessFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&a.stampKey, "stamp-key", "", "`FILE` with the key of STAMP's authenticated mode, in hexadecimal: then nothing else is reflected")
	flags.BoolVar(&a.stateless, "stamp-stateless", false, "reflect STAMP packets without counting them")
	flags.IntSliceVar(&a.stampMarks, "stamp-dscp", nil, "DSCPs that STAMP packets may ask their answers to leave with, such as 10,46")
}

// into reads the files that the flags name, and sets what they allow.
func (a *accessFlags) into(l *respond.Limits) error {
	l.STAMP.Stateless, l.STAMP.Marks = a.stateless, a.stampMarks
	for _, dscp := range a.stampMarks {
		if dscp < 0 || dscp > 63 {
			return badFlag("stamp-dscp", fmt.Errorf("\"%d\": want 0 to 63", dscp))
		}
	}
	if a.stampKey == "" {
		return nil
	}
	f, err := os.Open(a.stampKey)
	if err != nil {
		return badFlag("stamp-key", err)
	}
	defer f.Close()
	if l.STAMP.Key, err = stamp.ReadKey(f); err != nil {
		return badFlag("stamp-key", fmt.Errorf("%q: %w", a.stampKey, err))
	}
	return nil
}
