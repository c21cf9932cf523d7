package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/fleet"
)

// maxBody is the largest request that is read: a run with all parameters is under a kilobyte.
const maxBody = 64 << 10

// RunRequest is what a client posts to /api/v1/runs.
type RunRequest struct {
	Source          string         `json:"source"`
	Target          string         `json:"target"`
	Tool            string         `json:"tool"` // of the mesh, or a kind of probe
	Parameters      map[string]any `json:"parameters,omitempty"`
	PatienceSeconds float64        `json:"patience_seconds"` // how long it may wait for its turn; 0: it must begin now
}

// RunLine is one line of the answer: first when the run begins, then what it shows, the Result last; or an error.
type RunLine struct {
	Begins   *time.Time      `json:"begins,omitempty"`
	Run      string          `json:"run,omitempty"`
	Progress *fleet.Progress `json:"progress,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// startRun runs a test for the controller's owner.
func (s *Server) startRun(w http.ResponseWriter, r *http.Request) { s.run(w, r, nil) }

// maxPatience is how long a test may be waited for: a client that waits longer has forgotten it.
const maxPatience = 24 * time.Hour

// run runs a test between two hosts now, or as soon as it is free, and streams JSON lines until it is over. A client that
// goes away ends the run.
func (s *Server) run(w http.ResponseWriter, r *http.Request, caller *control.Caller) {
	var request RunRequest
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		s.fail(w, &badQuery{"body", err.Error(), `JSON such as {"source": "a", "target": "b", "tool": "rtt"}`})
		return
	}
	patience := request.PatienceSeconds
	if !(patience >= 0 && patience <= maxPatience.Seconds()) {
		s.fail(w, &badQuery{"patience_seconds", fmt.Sprint(patience), fmt.Sprintf("seconds from 0 to %.0f", maxPatience.Seconds())})
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	began := false
	out := &patient{w: w, control: http.NewResponseController(w)}
	line := func(l RunLine) {
		if !began {
			w.Header().Set("Content-Type", "application/x-ndjson")
		}
		began = true
		if json.NewEncoder(out).Encode(l) != nil || out.control.Flush() != nil {
			cancel() // nobody reads it
		}
	}
	err := s.Control.Test(ctx, control.Request{
		Source: request.Source, Target: request.Target, Tool: request.Tool, Parameters: request.Parameters,
		Patience: time.Duration(patience * float64(time.Second)), Caller: caller,
		Placed:   func(id string, begins time.Time) { line(RunLine{Run: id, Begins: &begins}) },
		Progress: func(p fleet.Progress) { line(RunLine{Progress: &p}) },
	})
	if err != nil && !began {
		s.fail(w, err)
	} else if err != nil {
		line(RunLine{Error: err.Error()})
	}
}

// backup writes a backup of the archive to a new file on the controller's machine.
func (s *Server) backup(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Path string `json:"path"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&request); err != nil || !filepath.IsAbs(request.Path) {
		s.fail(w, &badQuery{"path", request.Path, "an absolute path of a new file on the controller's machine"})
		return
	}
	if err := s.Archive.Backup(r.Context(), request.Path); err != nil {
		s.fail(w, fmt.Errorf("back up: %w", err))
		return
	}
	s.reply(w, request)
}
