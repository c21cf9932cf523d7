package terminal

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// pause is how often a drawing is made anew: often enough for a spinner to turn, and too seldom to cost anything.
const pause = 100 * time.Millisecond

// Live is a drawing below what was printed, which changes in place until End.
//
//	lines that were printed   stay, and scroll away as text does
//	the drawing               made anew each tenth of a second, in as many lines as it needs and there are
//
// The cursor rests behind the last letter of the drawing, so that what is typed meanwhile disturbs one line until the next drawing.
type Live struct {
	screen *Screen
	view   func(columns int) []string

	mu    sync.Mutex
	above []string // printed and not yet written
	drawn []string // what stands on the screen now
	over  bool     // the drawing is done with: what is printed is written at once

	ending atomic.Bool   // End was called
	stop   chan struct{} // closed by End
	done   chan struct{} // closed when nothing is drawn any more but by End
	ended  chan struct{} // closed when End has done its work
}

// Start draws what view returns for a screen of so many columns, again and again until End. No two calls of view, Print and Change run
// at once.
func (s *Screen) Start(view func(columns int) []string) *Live {
	l := &Live{screen: s, view: view, stop: make(chan struct{}), done: make(chan struct{}), ended: make(chan struct{})}
	go l.run()
	return l
}

func (l *Live) run() {
	defer close(l.done)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		l.draw()
		select {
		case <-tick.C:
		case <-l.stop:
			return
		}
	}
}

// Print writes a line above the drawing; after End, at once.
func (l *Live) Print(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		_, _ = io.WriteString(l.screen.out, l.screen.Legible(line)+"\r\n")
		return
	}
	l.above = append(l.above, line)
}

// Change runs what changes the things that are drawn.
func (l *Live) Change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// End leaves the drawing as it is now, or takes it away, with the cursor at the beginning of the line below. It may be called again, and
// by several goroutines: the first call holds, and all return when the drawing is done with.
func (l *Live) End(keep bool) {
	if l.ending.Swap(true) {
		<-l.ended
		return
	}
	defer close(l.ended)
	close(l.stop)
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replace(keep)
	if keep && len(l.drawn) > 0 {
		_, _ = io.WriteString(l.screen.out, "\r\n")
	}
	l.over = true
}

// draw replaces the last drawing by what view returns now.
func (l *Live) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.replace(true)
}

// replace puts a new drawing, or none, in place of the last, in one write, so that nobody sees it half made. Output errors are left to
// what is printed at the end. The lock is held.
func (l *Live) replace(shown bool) {
	columns, rows := l.screen.size()
	var text strings.Builder
	text.WriteString(l.back(columns))
	for _, line := range l.above {
		text.WriteString(l.screen.Legible(line) + "\r\n")
	}
	l.above, l.drawn = nil, nil
	if shown {
		l.drawn = l.view(columns)
		l.drawn = l.drawn[:min(len(l.drawn), max(rows-1, 1))]
	}
	for i, line := range l.drawn {
		l.drawn[i] = l.screen.Clipped(l.screen.Legible(line), columns-1) // a full line would leave the cursor on either line
	}
	text.WriteString(strings.Join(l.drawn, "\r\n"))
	_, _ = io.WriteString(l.screen.out, text.String())
}

// back moves the cursor to where the last drawing began, and clears the screen from there. A terminal that became narrower since has
// broken its lines.
func (l *Live) back(columns int) string {
	rows := 0
	for _, line := range l.drawn {
		rows += 1 + max(0, ansi.StringWidth(line)-1)/columns
	}
	if rows == 0 {
		return ""
	}
	text := "\r"
	if rows > 1 {
		text += ansi.CursorUp(rows - 1)
	}
	return text + ansi.EraseScreenBelow
}
