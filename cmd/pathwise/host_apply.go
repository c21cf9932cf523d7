package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/input"
)

// hostBackup is where what was changed is kept, so that --revert finds it.
const hostBackup = "/var/lib/pathwise/host-backup.json"

// checkChanges refuses flags that say two things, or nothing.
func (call *hostCall) checkChanges(namesBackup, remote bool) error {
	switch {
	case remote && (call.apply || call.revert || call.os != ""):
		return input.Errorf("--apply, --revert, --os: they are of this machine; leave out SSH-HOST, or run pathwise there")
	case call.apply && call.revert:
		return input.Errorf("--apply --revert: one makes changes and the other takes them back; give one of them")
	case call.persist && !call.apply:
		return input.Errorf("--persist: it is of --apply; give both")
	case namesBackup && !call.apply && !call.revert:
		return input.Errorf("--backup: it is of --apply and --revert; give one of them")
	case call.os != "" && (call.apply || call.revert):
		return input.Errorf("--os %s: what another system needs is only printed; leave out --apply and --revert", call.os)
	}
	if !namesBackup {
		return nil
	}
	folder := filepath.Dir(call.backup)
	if info, err := os.Stat(folder); err != nil {
		return badFlag("backup", err)
	} else if !info.IsDir() {
		return badFlag("backup", fmt.Errorf("%q: %s is no folder", call.backup, folder))
	}
	return nil
}

// hostChangesDoc is the JSON document of what was changed, or changed back.
type hostChangesDoc struct {
	Schema  string         `json:"schema"`
	Backup  string         `json:"backup"`
	Changed []host.Changed `json:"changed"`
}

// applyHost changes what was found bad and can be changed at once.
func (s *session) applyHost(call *hostCall, r *host.Report) error {
	changes := r.Changes()
	if len(changes) == 0 {
		return s.emit(hostChangesDoc{"pathwise.host-changes/1", call.backup, []host.Changed{}}, func(w io.Writer) {
			fmt.Fprintln(w, "nothing to change")
		})
	}
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	if call.backup == hostBackup {
		if err := os.MkdirAll(filepath.Dir(hostBackup), 0o700); err != nil {
			return fmt.Errorf("make folder of the backup: %w", err)
		}
	}
	done, failed := call.system.Apply(changes, call.backup, call.persist)
	if done == nil {
		return failed
	}
	doc := hostChangesDoc{"pathwise.host-changes/1", call.backup, done}
	return errors.Join(failed, s.emit(doc, func(w io.Writer) {
		for _, c := range done {
			if c.Error == "" {
				fmt.Fprintf(w, "%s = %s (was %s)\n", c.Name(), oneLine(c.To), was(c))
			}
		}
		fmt.Fprintln(w, "what was there is in", call.backup+"; pathwise host --revert writes it back")
	}))
}

// revertHost writes back what the backup has.
func (s *session) revertHost(call *hostCall) error {
	if os.Geteuid() != 0 {
		return errNotRoot
	}
	done, failed := call.system.Revert(call.backup)
	if errors.Is(failed, fs.ErrNotExist) && done == nil {
		return input.Errorf("--backup: %q: there is none, so that nothing was changed by --apply", call.backup)
	}
	if done == nil && failed != nil {
		return failed
	}
	doc := hostChangesDoc{"pathwise.host-changes/1", call.backup, done}
	return errors.Join(failed, s.emit(doc, func(w io.Writer) {
		for _, c := range done {
			if c.Error == "" {
				fmt.Fprintf(w, "%s = %s\n", c.Name(), was(c))
			}
		}
	}))
}

// was is what a change replaced.
func was(c host.Changed) string {
	if c.None {
		return "not there"
	}
	return oneLine(c.Was)
}

// oneLine is a value as it fits a line: a file of several has only its size said.
func oneLine(value string) string {
	if n := strings.Count(value, "\n"); n > 0 {
		return fmt.Sprintf("%d lines", n)
	}
	return strings.Join(strings.Fields(value), " ")
}
