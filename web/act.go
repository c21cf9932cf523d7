package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/account"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
)

// maxBody is the largest request that is read: a run with all parameters is under a kilobyte.
const maxBody = 64 << 10

// RunRequest is what a client posts to /api/v1/runs.
type RunRequest struct {
	Source     string         `json:"source" doc:"A host of the mesh"`
	Target     string         `json:"target" doc:"A host of the mesh; of a tool that measures its host, the same"`
	Tool       string         `json:"tool" doc:"Of the mesh, or a kind of probe" example:"ping"`
	Parameters map[string]any `json:"parameters,omitempty" doc:"Over those of the tool"`
	// Nobody waits for a test for more than a day: what is bounded is how long the request and its connection are kept.
	PatienceSeconds float64 `json:"patience_seconds,omitempty" minimum:"0" maximum:"86400" doc:"How long it may wait for its turn; 0: it must begin now"`
}

// RunLine is one line of the answer: first when the run begins, then what it shows, the Result last; or an error.
type RunLine struct {
	Begins   *time.Time      `json:"begins,omitempty"`
	Run      string          `json:"run,omitempty"`
	Progress *fleet.Progress `json:"progress,omitempty"`
	Error    string          `json:"error,omitempty"`
}

type runInput struct{ Body RunRequest }

// startRun runs a test between two hosts now, or as soon as it is free, and streams JSON lines until it is over. A client that
// goes away ends the run.
func (s *Server) startRun(ctx context.Context, in *runInput) (*huma.StreamResponse, error) {
	what := fmt.Sprintf("%s from %s to %s", in.Body.Tool, in.Body.Source, in.Body.Target)
	do := func(ctx context.Context, show func(RunLine)) error {
		return s.noted(ctx, "run", what, func(ctx context.Context, begins func()) error {
			return s.Control.Test(ctx, control.Request{
				Source: in.Body.Source, Target: in.Body.Target, Tool: in.Body.Tool, Parameters: in.Body.Parameters,
				Patience: time.Duration(in.Body.PatienceSeconds * float64(time.Second)), Caller: visitorOf(ctx).caller(),
				Placed:   func(id string, begins time.Time) { show(RunLine{Run: id, Begins: &begins}) },
				Began:    begins,
				Progress: func(p fleet.Progress) { show(RunLine{Progress: &p}) },
			})
		})
	}
	return streamed(ctx, s, do, func(err error) RunLine { return RunLine{Error: err.Error()} }), nil
}

// noted lets somebody make a test, which calls begins when it is to begin: who asks for it is written down then, or it ends. What
// does not begin is not written down, for anybody can ask for much of that; of what is denied, some is. The owner's tests are
// nobody else's business.
func (s *Server) noted(ctx context.Context, what, of string, test func(ctx context.Context, begins func()) error) error {
	if visitorOf(ctx).Kind == account.KindOwner {
		return test(ctx, func() {})
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var unwritten error
	err := test(ctx, sync.OnceFunc(func() {
		if unwritten = s.note(ctx, what, of); unwritten != nil {
			cancel()
		}
	}))
	if denied := new(control.Denial); errors.As(err, &denied) {
		s.Accounts.Refused(account.NewEntry(visitorOf(ctx).actor(), what, of, "denied"))
	}
	return cmp.Or(unwritten, err)
}

// note writes down who asks for something, before it is done. What cannot be written down is not done.
func (s *Server) note(ctx context.Context, what, of string) error {
	if err := s.Accounts.Note(account.NewEntry(visitorOf(ctx).actor(), what, of, "asked")); err != nil {
		return fmt.Errorf("write down who asks: %w", err)
	}
	return nil
}

type backupDoc struct {
	Path string `json:"path" doc:"Of a new file on the controller's machine" example:"/var/backups/pathwise.zst"`

	Passphrase  string `json:"passphrase,omitempty" doc:"That encrypts the backup; it holds keys"`
	ArchiveOnly bool   `json:"archive_only,omitempty" doc:"Without keys, accounts, plan and mesh files"`
}

// backup writes a backup to a new file on the controller's machine.
func (s *Server) backup(ctx context.Context, in *body[backupDoc]) (*body[backupDoc], error) {
	if !filepath.IsAbs(in.Body.Path) {
		return nil, fault(badField("path", in.Body.Path, "an absolute path of a new file on the controller's machine"))
	}
	if _, err := os.Lstat(in.Body.Path); err == nil {
		return nil, fault(badField("path", in.Body.Path, "a new file: there is one of this name"))
	}
	err := s.writeBackup(ctx, &in.Body)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, fault(badField("path", in.Body.Path, "a folder that is there and that the controller may write to"))
	}
	if err != nil {
		return nil, fault(fmt.Errorf("back up: %w", err))
	}
	return &body[backupDoc]{Body: backupDoc{Path: in.Body.Path}}, nil
}

func (s *Server) writeBackup(ctx context.Context, d *backupDoc) error {
	if s.Backup == nil || d.ArchiveOnly {
		return s.Archive.Backup(ctx, d.Path)
	}
	return s.Backup(ctx, d.Path, d.Passphrase)
}

type reparseDoc struct {
	Tool string `json:"tool,omitempty" doc:"Of these tools only, as a pattern; of all, where none is given"`
}

// reparse reads kept outputs again.
func (s *Server) reparse(ctx context.Context, in *body[reparseDoc]) (*body[control.Reparsed], error) {
	done, err := s.Control.Reparse(ctx, in.Body.Tool)
	if err != nil {
		return nil, fault(err)
	}
	return &body[control.Reparsed]{Body: done}, nil
}

type planInput struct {
	Host  string `query:"host" doc:"One host's: runs of which it is source or target"`
	Limit int    `query:"limit" minimum:"1" maximum:"1000" default:"50" doc:"How many"`
}

type planDoc struct {
	Runs []control.PlannedRun `json:"runs" doc:"That are not over, soonest first"`
}

// plan lists what hosts are to do next.
func (s *Server) plan(_ context.Context, in *planInput) (*body[planDoc], error) {
	runs, err := s.Control.Planned(in.Host, in.Limit)
	if err != nil {
		return nil, fault(err)
	}
	return &body[planDoc]{planDoc{runs}}, nil
}
