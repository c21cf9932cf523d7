package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/report"
)

// reportFlags say whether a report is written of a diagnosis, where, and what the person who has the problem tells in it.
type reportFlags struct {
	flags  *pflag.FlagSet
	path   string
	format report.Format
	mask   bool
	told   report.Told
}

func (r *reportFlags) add(flags *pflag.FlagSet) {
	r.flags = flags
	flags.StringVar(&r.path, "report", "", "also write a problem report for those who run networks and hosts: FILE.html, FILE.md or FILE.json")
	flags.BoolVar(&r.mask, "mask", false, "in the report, put others in place of addresses and of names of hosts")
	flags.StringVar(&r.told.Observed, "observed", "", "for the report: what is unsatisfactory, in your words")
	flags.StringVar(&r.told.Expected, "expected", "", "for the report: what it should be, or once was")
	flags.StringVar(&r.told.Since, "since", "", "with --pair how far back to look, such as 7d; for the report: when it began, in your words")
	flags.StringVar(&r.told.Application, "application", "", "for the report: which program is slow, its version, protocol and ports")
}

// check says what of it cannot be right, before anything is measured.
func (r *reportFlags) check() (err error) {
	if r.path == "" {
		for _, name := range []string{"mask", "observed", "expected", "since", "application"} {
			if r.flags.Changed(name) {
				return badFlag(name, errors.New("it is for a report; want --report too"))
			}
		}
		return nil
	}
	if r.format, err = report.FormatOf(r.path); err != nil {
		return badFlag("report", err)
	}
	if info, err := os.Stat(filepath.Dir(r.path)); err != nil || !info.IsDir() {
		return badFlag("report", fmt.Errorf("%q: want a file in a folder that is there", r.path))
	}
	if info, err := os.Stat(r.path); err == nil && info.IsDir() {
		return badFlag("report", fmt.Errorf("%q: want a file; this is a folder", r.path))
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return badFlag("report", err)
	}
	return nil
}

// write writes the report, if one is asked for: whole, or not at all.
func (r *reportFlags) write(s *session, d *diagnose.Diagnosis, now time.Time) error {
	if r.path == "" {
		return nil
	}
	name := ""
	if len(d.Results) > 0 {
		name = d.Results[0].Source.Name
	}
	p, err := report.New(d, r.told, []report.Host{localHost(name)}, version(), now), error(nil)
	if r.mask {
		if p, err = p.Mask(); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	if err := p.Write(&text, r.format); err != nil {
		return err
	}
	if err := os.WriteFile(r.path, text.Bytes(), 0o644); err != nil { // to be given to others
		return fmt.Errorf("write report: %w", err)
	}
	s.say("\nreport     %s", r.path)
	return nil
}

// localHost is what this system says of itself.
func localHost(name string) report.Host {
	h := report.Host{Name: name}
	var u unix.Utsname
	if unix.Uname(&u) == nil { // else nothing is known of it
		h.Kernel = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
		h.Machine = unix.ByteSliceToString(u.Machine[:])
	}
	text, _ := os.ReadFile("/etc/os-release") // a system without one has no such name
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "PRETTY_NAME="); found {
			h.System = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return h
}
