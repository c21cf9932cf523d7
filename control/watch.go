package control

import (
	"sync"

	"github.com/pathwise-net/pathwise/measure"
)

// Event is something that happened in the mesh. One of its parts is set.
type Event struct {
	Result *measure.Result `json:"result,omitempty"` // was filed
	Miss   *measure.Miss   `json:"miss,omitempty"`   // was noted
	Host   string          `json:"host,omitempty"`   // came or went
	State  HostState       `json:"state,omitempty"`
	Plan   uint64          `json:"plan,omitempty"` // number of a new plan, sent to all hosts
}

// Kind names the part that is set.
func (e Event) Kind() string {
	switch {
	case e.Result != nil:
		return "result"
	case e.Miss != nil:
		return "miss"
	case e.Host != "":
		return "host"
	}
	return "plan"
}

// watchRoom is how many events a watcher may be behind. One that is further behind loses events: it must not hold up
// those who file.
const watchRoom = 1024

// watchers are told of events.
type watchers struct {
	mu  sync.Mutex
	all map[chan Event]bool
}

func newWatchers() *watchers { return &watchers{all: map[chan Event]bool{}} }

func (w *watchers) tell(e Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all {
		select {
		case c <- e:
		default:
		}
	}
}

// Events returns a channel on which events come, and how to end that, after which the channel is closed.
func (c *Control) Events() (events <-chan Event, end func()) {
	ch := make(chan Event, watchRoom)
	c.watchers.mu.Lock()
	c.watchers.all[ch] = true
	c.watchers.mu.Unlock()
	return ch, func() {
		c.watchers.mu.Lock()
		defer c.watchers.mu.Unlock()
		if c.watchers.all[ch] {
			delete(c.watchers.all, ch)
			close(ch)
		}
	}
}
