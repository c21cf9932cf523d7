// Package screen shows a lab on a terminal while it runs, and changes its links by keys.
//
// It asks the lab for its truth twice a second and shows what changed in between. It is a model that messages change and a screen
// is drawn of: answers of the lab and keys in, text out.
//
//	            polled, changed
//	the lab  ------------------->  model.Update  -->  model.lines  -->  terminal
//	   ^                              |      ^
//	   '--------  Set, TruthOf  ------'      '---  keys
//
// It neither starts nor ends labs, counts nothing itself, and changes links only, not routes or hosts.
package screen

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pathwise-net/pathwise/lab"
)

// pollInterval is as often as a person reads a number that changes.
const pollInterval = 500 * time.Millisecond

// Lab is what the screen needs of a lab; *lab.Lab is one.
type Lab interface {
	State() (*lab.State, error)
	TruthOf(lab.Window) (*lab.Truth, error)
	Set(a, b string, settings ...string) error
}

// Show shows a lab on a terminal, which in reads from and out writes to, until the user leaves or ctx ends, neither of which is an
// error. While it does, the terminal is in raw mode and shows its alternate screen; then it is as it was. An error is of a lab that
// does not answer, or does not any more, or of the terminal.
func Show(ctx context.Context, l Lab, in io.Reader, out io.Writer) error {
	if _, err := l.State(); err != nil {
		return err
	}
	program := tea.NewProgram(model{lab: l}, tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, program.Quit)() // a signal is a way to leave, as q is
	last, err := program.Run()
	if m, ok := last.(model); ok && m.failed != nil {
		return m.failed
	}
	return err
}

// model is all that the screen knows.
type model struct {
	lab   Lab
	state *lab.State
	past  history

	selected      int  // a direction: an index of Truth.Links
	both          bool // keys change both ways of the link
	editing, help bool
	input         string // the line that is being edited
	message       string // what the last key did
	busy          bool   // a change is on its way to the lab and back
	waiting       []tea.KeyPressMsg
	width, height int   // of the terminal; 0 until it said
	failed        error // the lab does not answer any more
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

func (m model) Init() tea.Cmd { return m.poll(false) }

// poll asks the lab for how it stands. Flows are those of the last seconds.
func (m model) poll(once bool) tea.Cmd {
	return func() tea.Msg {
		state, err := m.lab.State()
		if err != nil {
			return polled{err: err}
		}
		truth, err := m.lab.TruthOf(lab.Window{From: -flowSpan.Seconds()})
		return polled{state: state, truth: truth, err: err, once: once}
	}
}

// set changes the selected link. Until the lab shows the change further keys wait, since they go on from it.
func (m model) set(setting string) (tea.Model, tea.Cmd) {
	m.busy = true
	between := m.state.Links[m.selected/2].Between
	return m, func() tea.Msg {
		what := "set " + between[0] + " " + between[1] + " " + setting
		return changed{what, m.lab.Set(between[0], between[1], setting)}
	}
}

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case pollNow:
		return m, m.poll(false)
	case polled:
		return m.take(msg)
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
		if m.busy && msg.String() != "ctrl+c" {
			m.waiting = append(m.waiting[:len(m.waiting):len(m.waiting)], msg)
			return m, nil
		}
		return m.key(msg)
	}
	return m, nil
}

// take shows what the lab says, and goes on with the keys that waited for it.
func (m model) take(p polled) (tea.Model, tea.Cmd) {
	if m.failed = p.err; p.err != nil {
		return m, tea.Quit
	}
	m.state, m.past = p.state, m.past.with(p.truth)
	m.selected = min(m.selected, max(0, 2*len(p.state.Links)-1))
	if !p.once {
		return m, tea.Tick(pollInterval, func(time.Time) tea.Msg { return pollNow{} })
	}
	m.busy = false
	for len(m.waiting) > 0 && !m.busy {
		key := m.waiting[0]
		m.waiting = m.waiting[1:]
		next, cmd := m.key(key)
		if m = next.(model); cmd != nil {
			return m, cmd
		}
	}
	return m, nil
}

func (m model) key(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	if m.editing {
		return m.edit(key)
	}
	return m.press(key.String())
}
