package control

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/fleet"
)

// awayAfter is how long a host may be silent: three reports that did not come.
const awayAfter = 3*fleet.StatusEvery + fleet.StatusEvery/2

// Host is what is known of one host of the mesh.
type Host struct {
	Name          string        `json:"name"`
	Site          string        `json:"site,omitempty"`
	Reach         string        `json:"reach"`
	Address       string        `json:"address"`
	State         HostState     `json:"state"`
	Heard         *time.Time    `json:"heard,omitempty"`                // when its last status came, by the controller's clock
	ClockBehind   *float64      `json:"clock_behind_seconds,omitempty"` // its clock against the controller's, to the time a message takes
	Status        *fleet.Status `json:"status,omitempty"`               // nil: none came yet
	NotUnderstood []string      `json:"out_of_date,omitempty"`          // what this controller knows and the agent's build does not
}

// HostState is whether a host can be told to do something.
type HostState string

const (
	Here    HostState = "here"
	Away    HostState = "away"    // no status for awayAfter, or none yet
	Foreign HostState = "foreign" // a responder: it runs nothing of ours
	Offline HostState = "offline" // the mesh file says so
)

// roster holds the last status of each host.
type roster struct {
	mu    sync.Mutex
	heard map[string]heard
	newer map[string]bool // versions of agents, newer than this build, that were logged
}

type heard struct {
	at      time.Time
	back    time.Time // when it came after it had been away or unknown
	status  fleet.Status
	missing []string // what this build understands and its agent does not
}

func newRoster() *roster { return &roster{heard: map[string]heard{}, newer: map[string]bool{}} }

// note takes a status. back says that the host was away or unknown before, other that it lacks or does not understand other
// things than before, so that it can do more or less of its plan.
func (r *roster) note(s fleet.Status, now time.Time) (back, other bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, known := r.heard[s.Host]
	if back = !known || now.Sub(last.at) > awayAfter; back {
		last.back = now
	}
	missing := s.Abilities().Missing(ours())
	r.heard[s.Host] = heard{now, last.back, s, missing}
	same := func(a, b fleet.MissingCapability) bool { return a.Kind == b.Kind && a.What == b.What } // why may count something
	return back, !slices.EqualFunc(last.status.Lacks, s.Lacks, same) || !slices.Equal(last.missing, missing)
}

// last returns the host's last status and when it came.
func (r *roster) last(host string) (fleet.Status, time.Time, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, known := r.heard[host]
	return h.status, h.at, known
}

// here says whether the host reported lately.
func (r *roster) here(host string, now time.Time) bool {
	_, at, known := r.last(host)
	return known && now.Sub(at) <= awayAfter
}

// why says in words why no Result came of a run that this host was to start then.
func (r *roster) why(host string, start, now time.Time) string {
	r.mu.Lock()
	h, known := r.heard[host]
	r.mu.Unlock()
	switch {
	case !known:
		return fmt.Sprintf("%s has not reported since the controller started", host)
	case now.Sub(h.at) > awayAfter:
		return fmt.Sprintf("%s is away since %s", host, h.at.UTC().Format(time.RFC3339))
	case start.Before(h.back):
		return fmt.Sprintf("%s was away, or not known to be there, until %s", host, h.back.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("%s is there and sent no result", host)
}
