package control

import (
	"errors"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// Request is one test that somebody wants now.
type Request struct {
	Source, Target string         // names of hosts; of a tool that measures its host, the same
	Tool           string         // of the mesh, or a kind of probe
	Parameters     map[string]any // over those of the tool
	Patience       time.Duration  // how long it may wait for its turn; 0: it begins at once or not at all
	Caller         *Caller        // who asks, and is held to the mesh file's limits; nil: the controller's owner, who is not

	Placed   func(id string, begins time.Time) // called once it has its time
	Began    func()                            // called when it is, before its hosts are told
	Progress func(fleet.Progress)              // called for what the run shows, the Result last

	probe bool         // Tool is a kind of probe, even if the mesh has a tool of that name
	role  measure.Role // why it is made; "": measure.RoleDemand

	unasked bool // nobody asked for it: it takes no more of a day's bytes than unaskedShare
}

// badRequest says which part of a Request cannot be.
func badRequest(field, value, want string) error {
	return input.Errorf("%s: %q: want %s", field, value, want)
}

// ErrNotFree says that a test cannot begin while the Request would wait, since what it needs is in use.
var ErrNotFree = errors.New("both ends are not free together in time; try again with more patience (--wait)")
