package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/pathwise-net/pathwise/chart"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/terminal"
)

// liveKeys is what the help shows.
var liveKeys = []string{
	"d  other figures: round trips, jitter, sparklines    n  names or addresses",
	"p  pause, and go on                                  r  begin the figures anew",
	"h  this help                                         q  quit",
}

// liveTracer is what the screen needs of a trace; *probe.LiveTrace is one.
type liveTracer interface {
	State() probe.LiveState
	Pause(on bool)
	Reset()
}

// liveScreen shows a trace that goes on, on the terminal's other screen, and has keys for it. It is a model that messages change: a tick asks the trace
// how far it has come, a key changes the trace or what is shown of it.
type liveScreen struct {
	*terminal.Screen
	trace  liveTracer
	target string
	ctx    context.Context // names are looked up while it lasts
	names  *hopNames
	known  func(address string) measure.AddressInfo // what is known of one by now beside its name; nil: nobody looks

	width, height int // of the terminal; 0 until it said
	state         probe.LiveState
	display       probe.LiveDisplay
	named, help   bool
}

type liveTick struct{}

func newLiveScreen(screen *terminal.Screen, trace *probe.LiveTrace, find nameFinder) *liveScreen {
	return &liveScreen{Screen: screen, trace: trace, target: trace.Target, named: true, names: newHopNames(find)}
}

// show runs the screen until the user leaves, ended is closed or ctx ends, none of which is an error. The terminal is as it was then.
func (l *liveScreen) show(ctx context.Context, in *os.File, out io.Writer, ended <-chan struct{}) error {
	var left context.CancelFunc
	l.ctx, left = context.WithCancel(ctx)
	defer l.names.wait()
	defer left()
	program := tea.NewProgram(l, tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, program.Quit)()
	go func() { // ends with the trace, which ends after the screen at the latest
		<-ended
		program.Quit()
	}()
	_, err := program.Run()
	if errors.Is(err, tea.ErrProgramKilled) {
		err = nil
	}
	return err
}

func (l *liveScreen) Init() tea.Cmd { return l.tick() }

func (l *liveScreen) tick() tea.Cmd {
	return tea.Tick(liveDraws, func(time.Time) tea.Msg { return liveTick{} })
}

func (l *liveScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		l.width, l.height = msg.Width, msg.Height
	case liveTick:
		l.state = l.trace.State()
		return l, l.tick()
	case tea.KeyPressMsg:
		return l.press(msg.String())
	}
	return l, nil
}

// press does what a key stands for.
func (l *liveScreen) press(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "q", "ctrl+c":
		return l, tea.Quit
	case "d":
		l.display = (l.display + 1) % probe.LiveDisplays
	case "n":
		l.named = !l.named
	case "p", "space":
		l.trace.Pause(!l.state.Paused)
	case "r":
		l.trace.Reset()
	case "h", "?":
		l.help = !l.help
	}
	l.state = l.trace.State()
	return l, nil
}

func (l *liveScreen) View() tea.View {
	v := tea.NewView(strings.Join(l.lines(), "\n"))
	v.AltScreen = true
	return v
}

// lines is the screen, no wider and no longer than the terminal: what is traced, the table, what the path loses, and the keys.
func (l *liveScreen) lines() []string {
	width, height := l.width, l.height
	if width == 0 || height == 0 {
		width, height = 80, 24
	}
	head := fmt.Sprintf("tracing %s, round %d", l.target, l.state.Rounds.Rounds)
	if l.state.Searching != "" {
		head = fmt.Sprintf("finding all paths to %s: %s", l.target, l.state.Searching)
	}
	if l.state.Paused {
		head += ", " + l.Warn("paused: p goes on")
	}
	foot := []string{""}
	if len(l.state.Rounds.Hops) > 0 {
		foot = append(foot, l.verdict(&l.state.Rounds, width)...)
	}
	if l.help {
		foot = append(foot, liveKeys...)
	} else {
		foot = append(foot, l.Faint("d figures  n names  p pause  r anew  h help  q quit"))
	}
	table := l.table(l.state.Hops, &l.state.Rounds, width)
	if room := height - 1 - len(foot); len(table) > room && room > 1 {
		table = append(table[:room-1], l.Faint(fmt.Sprintf("and %d rows more", len(table)-room+1)))
	}
	lines := append(append([]string{head}, table...), foot...)
	for i := range lines {
		lines[i] = l.Clipped(l.Legible(lines[i]), width)
	}
	return lines[:min(len(lines), height)]
}

// table has the figures of each hop, with a sparkline where there is room for one, and loss that counts in another colour than loss that does not.
func (l *liveScreen) table(hops []measure.Hop, rounds *measure.RoundsSample, width int) []string {
	if len(rounds.Hops) == 0 {
		return nil
	}
	t := probe.LiveTable{Display: l.display, ASCII: l.ASCII, Who: l.who, Below: l.below}
	widest := 0
	for _, line := range chart.Table(t.Rows(hops, rounds.Hops), 1) {
		widest = max(widest, len([]rune(line)))
	}
	if room := width - widest - 3; room >= liveSpark || l.display == probe.LiveRecent {
		t.Width = max(liveSpark, room)
	}
	rows := t.Rows(hops, rounds.Hops)
	for i := range rows[0] {
		rows[0][i] = l.Strong(rows[0][i])
	}
	row := 1
	for _, h := range probe.LiveFigureRows(rounds.Hops) {
		rows[row][probe.LiveLossColumn] = l.lossMark(h, rounds)(rows[row][probe.LiveLossColumn])
		row += max(1, len(h.From))
	}
	return t.Lay(rows, rounds.Hops)
}

// liveSpark is the least width of a sparkline that says something.
const liveSpark = 8

// lossMark is how the loss of a hop is marked: what goes on to the end is bad, the rest is not the path's.
func (l *liveScreen) lossMark(h *measure.HopRounds, rounds *measure.RoundsSample) func(string) string {
	loss := &rounds.Loss
	for i := range rounds.Ways { // a router on a way that loses packets is judged by that way
		if way := &rounds.Ways[i]; loss.Hop == 0 && way.Loss.Hop > 0 && h.TTL <= len(way.Routers) &&
			slices.ContainsFunc(h.From, func(a measure.HopAnswers) bool { return a.Address == way.Routers[h.TTL-1] }) {
			loss = &way.Loss
		}
	}
	switch {
	case h.Lost == 0:
		return func(text string) string { return text }
	case slices.Contains(loss.Limiting, h.TTL) || loss.Hop > 0 && h.TTL < loss.Hop:
		return l.Faint
	case loss.Hop > 0:
		return l.Bad
	}
	return l.Warn
}

// verdict is what the path loses, in lines that fit.
func (l *liveScreen) verdict(rounds *measure.RoundsSample, width int) []string {
	lines := strings.Split(chart.Fold(rounds.Loss.Verdict, "", width-1), "\n")
	if rounds.Loss.Hop > 0 {
		for i := range lines {
			lines[i] = l.Bad(lines[i])
		}
	}
	return lines
}

func (l *liveScreen) who(address string) string {
	if !l.named {
		return address
	}
	l.names.begin(l.ctx, address, nil) // the next tick draws it
	if name := l.names.of(address); name != "" && name != address {
		return l.Clipped(name, maxHostShown)
	}
	return address
}

// below is what is known of an address beside its name, which stands in its place or is not wanted.
func (l *liveScreen) below(address string) string {
	if l.known == nil {
		return ""
	}
	info := l.known(address)
	info.Name = ""
	return probe.KnownText(info)
}

// outcome prints what stands when the screen is gone.
func (l *liveScreen) outcome(w io.Writer, r *measure.Result) {
	if r.Samples.Rounds == nil {
		return
	}
	for _, a := range r.Samples.Addresses {
		if a.Name != "" {
			l.names.set(a.Address, a.Name)
		}
	}
	fmt.Fprintf(w, "route to %s (%s)\n", r.Target.Name, r.Target.Address)
	lines := append(l.table(r.Samples.Hops, r.Samples.Rounds, l.Width()), l.verdict(r.Samples.Rounds, l.Width())...)
	fmt.Fprintln(w, strings.Join(lines, "\n"))
	probe.WriteNotes(w, r)
}
