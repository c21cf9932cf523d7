package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/durable"
)

// dailyBytes counts the bytes of a day, by class, and keeps the count on disk. A day is the host's own, by its local time.
type dailyBytes struct {
	path string

	mu    sync.Mutex
	day   string
	bytes map[string]int64
	saved time.Time
	fresh int64 // bytes not yet on disk
}

const (
	dayLayout = "2006-01-02"
	// The count is saved when it grew by this much, or is this old: what a killed agent forgets to count.
	saveBytes = 1 << 20
	saveAge   = 10 * time.Second
)

type ledgerFile struct {
	Day   string           `json:"day"`
	Bytes map[string]int64 `json:"bytes"`
}

// openDailyBytes reads the count. After an error it begins at zero.
func openDailyBytes(path string) (*dailyBytes, error) {
	l := &dailyBytes{path: path, bytes: map[string]int64{}}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	var f ledgerFile
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err == nil && f.Bytes != nil {
		l.day, l.bytes = f.Day, f.Bytes
	}
	return l, err
}

// add counts what a run of classes took.
func (l *dailyBytes) add(at time.Time, classes []string, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(at)
	for _, class := range classes {
		l.bytes[class] += bytes
	}
	l.fresh += bytes
}

// today returns the bytes of the day that a time is in.
func (l *dailyBytes) today(at time.Time) map[string]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(at)
	return maps.Clone(l.bytes)
}

// turn begins a new day. A clock that is set back past midnight does not: what was sent stays counted. One that had been
// wrong by days does.
func (l *dailyBytes) turn(at time.Time) {
	day := at.Format(dayLayout)
	last, err := time.ParseInLocation(dayLayout, l.day, at.Location())
	if err != nil || day > l.day || last.Sub(at) > 24*time.Hour {
		l.day, l.bytes = day, map[string]int64{}
	}
}

// save writes the count if it is time to.
func (l *dailyBytes) save(always bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fresh == 0 || !always && l.fresh < saveBytes && time.Since(l.saved) < saveAge {
		return nil
	}
	l.saved, l.fresh = time.Now(), 0
	err := durable.Replace(l.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(ledgerFile{l.day, l.bytes}) })
	if err != nil {
		return fmt.Errorf("keep count of bytes: %w", err)
	}
	return nil
}
