package main

import (
	"context"
	"errors"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pathwise-net/pathwise/lab"
)

// The live view asks the lab for its truth twice a second and shows what changed in between. It is a model that messages
// change and a screen is drawn of: answers of the lab and keys in, text out.
//
//	              polled, changed
//	  the lab  ------------------->  liveModel.Update  -->  liveModel.lines  -->  terminal
//	     ^                              |      ^
//	     '--------  Set, TruthOf  ------'      '---  keys
const pollInterval = 500 * time.Millisecond

// watchedLab is what the view needs of a lab.
type watchedLab interface {
	State() (*lab.State, error)
	TruthOf(lab.Window) (*lab.Truth, error)
	Set(a, b string, settings ...string) error
}

// watchLab shows a lab on the terminal until the user quits.
func (s *session) watchLab(ctx context.Context, l *lab.Lab) error {
	in, isFile := s.in.(*os.File)
	switch {
	case s.json:
		return badFlag("live", errors.New("goes without --json; `pathwise lab truth --json` prints what the view shows"))
	case !isFile || !isTerminal(in) || !isTerminal(s.out):
		return badFlag("live", errors.New("want a terminal; `pathwise lab truth` prints what the view shows"))
	}
	if _, err := l.State(); err != nil {
		return err
	}
	program := tea.NewProgram(liveModel{lab: l}, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(s.out),
		tea.WithoutSignalHandler())
	last, err := program.Run()
	if ctx.Err() != nil {
		return nil // a signal is a way to leave, as q is
	}
	if m, ok := last.(liveModel); ok && m.failed != nil {
		return m.failed
	}
	return err
}

// liveModel is all that the view knows.
type liveModel struct {
	lab   watchedLab
	state *lab.State
	past  history

	selected      int  // a direction: an index of Truth.Links
	both          bool // keys change both ways of the link
	editing, help bool
	input         string // the line that is being edited
	message       string // what the last key did
	width, height int    // of the terminal; 0 until it said
	failed        error  // the lab does not answer any more
}

// polled is what the lab says of itself.
type polled struct {
	state *lab.State
	truth *lab.Truth
	err   error
	once  bool // nothing is to be asked again for it
}

// changed is the outcome of a change.
type changed struct {
	what string
	err  error
}

type pollNow struct{}

func (m liveModel) Init() tea.Cmd { return m.poll(false) }

// poll asks the lab for how it stands. Flows are those of the last seconds.
func (m liveModel) poll(once bool) tea.Cmd {
	return func() tea.Msg {
		state, err := m.lab.State()
		if err != nil {
			return polled{err: err}
		}
		truth, err := m.lab.TruthOf(lab.Window{From: -flowSpan.Seconds()})
		return polled{state: state, truth: truth, err: err, once: once}
	}
}

// set changes the selected link.
func (m liveModel) set(setting string) tea.Cmd {
	between := m.state.Links[m.selected/2].Between
	return func() tea.Msg {
		what := "set " + between[0] + " " + between[1] + " " + setting
		return changed{what, m.lab.Set(between[0], between[1], setting)}
	}
}

func (m liveModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case pollNow:
		return m, m.poll(false)
	case polled:
		if m.failed = msg.err; msg.err != nil {
			return m, tea.Quit
		}
		m.state, m.past = msg.state, m.past.with(msg.truth)
		m.selected = min(m.selected, max(0, len(msg.truth.Links)-1))
		if !msg.once {
			return m, tea.Tick(pollInterval, func(time.Time) tea.Msg { return pollNow{} })
		}
	case changed:
		m.message = msg.what
		if msg.err != nil {
			m.message = msg.err.Error()
		}
		return m, m.poll(true)
	case tea.PasteMsg:
		if m.editing {
			m.input += msg.Content
		}
	case tea.KeyPressMsg:
		if m.editing {
			return m.edit(msg)
		}
		return m.press(msg.String())
	}
	return m, nil
}
