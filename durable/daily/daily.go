// Package daily counts what is used of each day, such as the bytes of tests, and keeps the count on disk, so that a restart does
// not give anybody another day's worth.
//
// It knows no limits: whether somebody may use more is for the caller to say.
package daily

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/durable"
)

// Count is what was used of one day, in bytes, by kind of use and by name, such as that of a host or of a class of users. Several
// goroutines may use one. A day is that of the time zone of the times that it is given, which must be the same for all.
//
// On disk it is {"day": "2026-11-22", KIND: {NAME: BYTES, ...}, ...}.
type Count struct {
	path  string
	kinds []string

	mu      sync.Mutex // also of the file: an older count must not replace a newer one
	day     string     // as time.DateOnly
	used    map[string]map[string]float64
	unsaved float64 // bytes by which the file is behind
	saved   time.Time
}

// maxFile bounds the file: each kind has one line for each name, and the largest meshes have some 10,000 hosts and sites.
const maxFile = 8 << 20

// Open goes on with the count in a file of these kinds. If there is none, it begins at zero; so it does beside an error, after
// which the count is usable all the same.
func Open(path string, kinds ...string) (*Count, error) {
	c := &Count{path: path, kinds: kinds}
	c.begin("")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	} else if err != nil {
		return c, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxFile)
	}
	if err == nil {
		err = c.parse(text)
	}
	if err != nil {
		c.begin("")
		return c, fmt.Errorf("read %s: %w", path, err)
	}
	return c, nil
}

// parse takes over what a file says.
func (c *Count) parse(text []byte) error {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	if err := json.Unmarshal(parts["day"], &c.day); err != nil {
		return fmt.Errorf("day: %w", err)
	}
	for _, kind := range c.kinds {
		used := c.used[kind]
		if err := json.Unmarshal(parts[kind], &used); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
		if used != nil { // as it is after "null"
			c.used[kind] = used
		}
	}
	return nil
}

// begin starts at zero. c.mu is held.
func (c *Count) begin(day string) {
	c.day, c.used = day, map[string]map[string]float64{}
	for _, kind := range c.kinds {
		c.used[kind] = map[string]float64{}
	}
}

// Day returns the day that is being counted at a time, as time.DateOnly, and begins a new one if it is time to. A clock that is
// set back past midnight does not begin one, so that what was used stays counted. A clock that had been wrong by days does.
func (c *Count) Day(at time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	today := at.Format(time.DateOnly)
	counted, err := time.ParseInLocation(time.DateOnly, c.day, at.Location())
	if err != nil || today > c.day || counted.Sub(at) > 24*time.Hour {
		c.begin(today)
	}
	return c.day
}

// Add counts bytes of a kind for each of some names, if the day that is being counted is still this one. Negative bytes take back
// what was counted too much; nothing becomes less than 0.
func (c *Count) Add(day, kind string, names []string, bytes float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if day != c.day || bytes == 0 {
		return
	}
	for _, name := range names {
		c.used[kind][name] = max(0, c.used[kind][name]+bytes)
		c.unsaved += max(bytes, -bytes)
	}
}

// Used is what was counted of a kind on the day that is being counted, by name.
func (c *Count) Used(kind string) map[string]float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.used[kind])
}

// Of is what was counted of a kind for one name on the day that is being counted.
func (c *Count) Of(kind, name string) float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used[kind][name]
}

// Save writes what is not on disk yet. What it could not write, the next call does.
func (c *Count) Save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.save()
}

const (
	// A count that is saved now and then is saved when it grew by this much, or when it was saved so long ago. It is what is
	// forgotten of a process that is killed.
	saveBytes = 1 << 20
	saveAge   = 10 * time.Second
)

// SaveNowAndThen is Save for who calls it often: it waits until there is enough to write.
func (c *Count) SaveNowAndThen() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unsaved < saveBytes && time.Since(c.saved) < saveAge {
		return nil
	}
	return c.save()
}

func (c *Count) save() error {
	if c.unsaved == 0 {
		return nil
	}
	all := map[string]any{"day": c.day}
	for kind, used := range c.used {
		all[kind] = used
	}
	c.saved = time.Now()
	text, err := json.Marshal(all)
	if err == nil {
		err = durable.Write(c.path, text)
	}
	if err != nil {
		return fmt.Errorf("keep count of bytes: %w", err)
	}
	c.unsaved = 0
	return nil
}
