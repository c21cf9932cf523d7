package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
)

// spending is what tests take today, in UTC, of the bytes that hosts and sites may move in a day, by whose they are. It is on disk,
// at most a turn of the loop behind.
type spending struct {
	path string

	mu sync.Mutex
	spent
	unsaved bool
}

// spent is a spending on disk.
type spent struct {
	Day     string             `json:"day"`     // as time.DateOnly
	Asked   map[string]float64 `json:"asked"`   // by tests that somebody asked for, those under way as they were reckoned
	Planned map[string]float64 `json:"planned"` // by runs of the plan of which there is a Result
}

// spendingFile is the name of the day's bytes of hosts and sites in the controller's folder.
const spendingFile = "spent.json"

// maxSpending bounds the file: it has two lines for each host and site.
const maxSpending = 8 << 20

// openSpending goes on with what is on disk. A file that cannot be read counts as none: it is of one day.
func openSpending(folder string) *spending {
	s := &spending{path: filepath.Join(folder, spendingFile)}
	if text, err := os.ReadFile(s.path); err != nil || document.JSON(text, maxSpending, &s.spent) != nil {
		s.spent = spent{}
	}
	return s
}

func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// turn begins a new day. s.mu is held.
func (s *spending) turn(now time.Time) {
	if today := dayOf(now); s.Day != today || s.Asked == nil || s.Planned == nil {
		s.spent = spent{Day: today, Asked: map[string]float64{}, Planned: map[string]float64{}}
	}
}

// expense is what a test takes of each of some limits on a day.
type expense struct {
	limits []config.DailyLimit
	day    string
	bytes  float64
}

// take counts what a test that somebody asks for is reckoned to take, if there is as much left; else it is a *Denial.
func (s *spending) take(limits []config.DailyLimit, bytes float64, now time.Time) (*expense, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	for _, l := range limits {
		if denial := l.Denies(bytes, s.Asked[l.Whose]+s.Planned[l.Whose]); denial != nil {
			return nil, denial
		}
	}
	for _, l := range limits {
		s.Asked[l.Whose] += bytes
	}
	s.unsaved = s.unsaved || len(limits) > 0
	return &expense{limits, s.Day, bytes}, nil
}

// settle counts what a test took in place of what was reckoned.
func (s *spending) settle(e *expense, took float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e == nil || e.day != s.Day {
		return // yesterday's
	}
	for _, l := range e.limits {
		s.Asked[l.Whose] = max(0, s.Asked[l.Whose]+took-e.bytes)
	}
	s.unsaved = s.unsaved || len(e.limits) > 0
}

// add counts what a planned run took that began at a time.
func (s *spending) add(limits []config.DailyLimit, bytes float64, began, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	if dayOf(began) != s.Day {
		return
	}
	for _, l := range limits {
		s.Planned[l.Whose] += bytes
		s.unsaved = true
	}
}

// taken is what was taken today of somebody's bytes.
func (s *spending) taken(whose string, now time.Time) (asked, planned float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn(now)
	return s.Asked[whose], s.Planned[whose]
}

// save keeps what is not on disk yet.
func (s *spending) save() error {
	s.mu.Lock()
	kept, unsaved := spent{s.Day, maps.Clone(s.Asked), maps.Clone(s.Planned)}, s.unsaved
	s.unsaved = false
	s.mu.Unlock()
	if !unsaved {
		return nil
	}
	text, err := json.Marshal(kept)
	if err == nil {
		err = durable.Write(s.path, text)
	}
	if err != nil {
		return fmt.Errorf("keep the day's bytes: %w", err)
	}
	return nil
}
