package control

import (
	"log/slog"
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

// openSpending goes on with what is on disk, as openCount does.
func openSpending(folder string, log *slog.Logger) *spending {
	return &spending{Count: openCount(filepath.Join(folder, spendingFile), log, askedFor, planned)}
}

// openCount goes on with the bytes of a day that are on disk. If they cannot be read, the count begins at zero, and the log says so,
// since everybody may then use as much as on a whole day once more.
func openCount(path string, log *slog.Logger, kinds ...string) *daily.Count {
	count, err := daily.Open(path, kinds...)
	if err != nil {
		log.Warn("the bytes that were used today cannot be read; they are counted from zero", "error", err)
	}
	return count
}

func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// expense is what a test takes of each of some limits on a day.
type expense struct {
	whose []string
	day   string
	bytes float64
}

// take counts what a test on demand is reckoned to take, if there is as much left; else it is a *Denial. One that nobody asked for
// is held to unaskedShare.
func (s *spending) take(limits []config.DailyLimit, bytes float64, unasked bool, now time.Time) (*expense, error) {
	s.taking.Lock()
	defer s.taking.Unlock()
	e := &expense{day: s.Day(now.UTC()), bytes: bytes}
	for _, l := range limits {
		asked := s.Of(askedFor, l.Whose)
		denial := l.Denies(bytes, asked+s.Of(planned, l.Whose))
		if denial == nil && unasked {
			part := config.DailyLimit{Whose: "diagnoses that nobody asked for, at " + l.Whose + ",", Bytes: unaskedShare * l.Bytes}
			denial = part.Denies(bytes, asked)
		}
		if denial != nil {
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
