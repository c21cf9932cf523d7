package control

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/durable/daily"
)

// spending is what tests take today, in UTC, of the bytes that hosts and sites may move in a day, by whose they are. It is on disk,
// at most a turn of the loop behind.
type spending struct {
	taking sync.Mutex // from the look at what is left until it is taken
	*daily.Count
}

// The kinds of a spending.
const (
	askedFor = "asked"   // by tests that somebody asked for, those under way as they were reckoned
	planned  = "planned" // by runs of the plan of which there is a Result
)

// spendingFile is the name of the day's bytes of hosts and sites in the controller's folder.
const spendingFile = "spent.json"

// openSpending goes on with what is on disk. A file that cannot be read counts as none: it is of one day.
func openSpending(folder string) *spending {
	count, _ := daily.Open(filepath.Join(folder, spendingFile), askedFor, planned)
	return &spending{Count: count}
}

func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// expense is what a test takes of each of some limits on a day.
type expense struct {
	whose []string
	day   string
	bytes float64
}

// take counts what a test that somebody asks for is reckoned to take, if there is as much left; else it is a *Denial.
func (s *spending) take(limits []config.DailyLimit, bytes float64, now time.Time) (*expense, error) {
	s.taking.Lock()
	defer s.taking.Unlock()
	e := &expense{day: s.Day(now.UTC()), bytes: bytes}
	for _, l := range limits {
		if denial := l.Denies(bytes, s.Of(askedFor, l.Whose)+s.Of(planned, l.Whose)); denial != nil {
			return nil, denial
		}
		e.whose = append(e.whose, l.Whose)
	}
	s.Add(e.day, askedFor, e.whose, bytes)
	return e, nil
}

// settle counts what a test took in place of what was reckoned, unless it was yesterday's.
func (s *spending) settle(e *expense, took float64) {
	if e != nil {
		s.Add(e.day, askedFor, e.whose, took-e.bytes)
	}
}

// add counts what a planned run took that began at a time.
func (s *spending) add(limits []config.DailyLimit, bytes float64, began, now time.Time) {
	s.Day(now.UTC())
	for _, l := range limits {
		s.Add(dayOf(began), planned, []string{l.Whose}, bytes)
	}
}

// taken is what was taken today of somebody's bytes.
func (s *spending) taken(whose string, now time.Time) (asked, done float64) {
	s.Day(now.UTC())
	return s.Of(askedFor, whose), s.Of(planned, whose)
}
