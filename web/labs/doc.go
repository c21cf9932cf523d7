// Package labs lets people watch, change and try labs of this machine (package lab) from a page.
//
// It finds the labs that its user has up, says what each link does and did, changes links by the settings of a lab file or by
// the name of a fault, takes changes back, and runs a test from one host of a lab to another. It starts and ends no lab, and
// does not decide who may do what: package web does.
//
//	Lab     lab.State + Shapes + Truth  ->  one document, for a moment the same however many ask
//	Change  settings, or a fault        ->  lab.Replace     kept, so that Undo can take it back
//	Test    this program, on the hosts  ->  a line for each thing that happens, the Result last
//
// What callers name is looked for among what there is, and never becomes a path or a program.
package labs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/lab"
)

// Labs are the labs of this user on this machine. Its methods may be called by several goroutines.
type Labs struct {
	// Program is the pathwise program; Test runs it on the hosts of labs.
	Program string

	mu    sync.Mutex
	known map[string]*known
}

// known is what is kept of a lab. Its lock is held while the lab is asked, so that one that does not answer holds up no other.
type known struct {
	mu      sync.Mutex
	began   time.Time // when it came up: a later lab of the same name is another
	changes []*Change // the oldest first
	last    int       // ID of the newest change
	testing bool

	shown   *Lab // of shownAt
	shownAt time.Time

	failed      error // why it could not be asked; told without asking again
	failedUntil time.Time
}

// ErrBusy means that a test is under way in the lab: two would share its links, and their hosts' ports.
var ErrBusy = errors.New("a test is under way in this lab; wait until it has ended")

// ErrOff means that the controller was not told to show labs.
var ErrOff = errors.New("the controller shows no labs; controller.labs: true in the mesh file has it do so")

// Names returns the labs that are up, in order.
func (s *Labs) Names() ([]string, error) { return lab.Names() }

// open returns a handle on a lab that is up, with what is kept of it, whose lock is held until done is called; else the error is
// lab.ErrNoLab.
func (s *Labs) open(name string) (l *lab.Lab, k *known, done func(), err error) {
	names, err := lab.Names()
	if err != nil {
		return nil, nil, nil, err
	}
	if !slices.Contains(names, name) {
		return nil, nil, nil, fmt.Errorf("lab %q: %w", name, lab.ErrNoLab)
	}
	s.mu.Lock()
	maps.DeleteFunc(s.known, func(old string, _ *known) bool { return !slices.Contains(names, old) })
	if s.known == nil {
		s.known = map[string]*known{}
	}
	if k = s.known[name]; k == nil {
		k = &known{}
		s.known[name] = k
	}
	s.mu.Unlock()
	k.mu.Lock()
	return &lab.Lab{Name: name}, k, k.mu.Unlock, nil
}
