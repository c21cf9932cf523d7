// Package spool keeps what an agent must not forget: which runs it began, and their Results until the archive has them.
//
// It stores and recovers; it measures nothing, and package agent delivers. Everything goes to one log, a folder of
// segment files that are only ever appended to and that one process writes:
//
//	segment 0000000000000007.log:  frame frame frame …
//	frame:  magic 4 | length of body 4 | CRC32C of length, kind and body 4 | kind 1 | body       numbers little-endian
//	kinds:  begun   ULID, JSON of the measure.Run without its secret
//	        result  ULID, JSON of the measure.Result, compressed (S2)
//	        filed   ULIDs that the archive has
//	        mark    JSON of a Mark: how far into its plan the agent has come
//
// A run is begun (Begin), ends in a Result (Put), which is delivered (Due, Sent) until it is filed (Filed). What was
// written survives the end of the process; what Commit returned nil for survives the end of power. A frame that is torn or
// damaged is lost alone: reading goes on at the next magic whose frame is whole.
//
// Segments go oldest first, never out of order, so that a frame never outlives the one that revokes it. What still counts
// in an old one is copied to the end of the log when most of the log no longer counts.
package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// Config says where a Spool is and how large it may grow.
type Config struct {
	Dir string // made if it is not there

	MaxBytes     int64 // on disk; beyond, the oldest Results go; 0: 1 GB, about a day of a busy host without its controller
	MemoryBytes  int   // of Results that the disk does not take; beyond, the oldest go; 0: 4 MB
	SegmentBytes int64 // 0: 4 MB, which is read at once when the spool is opened

	Log *slog.Logger // nil: silent
}

// ErrTooLarge: a Result of more than maxBody bytes is not kept.
var ErrTooLarge = errors.New("the Result is too large to be kept")

// maxBody bounds what one frame can hold: a day of samples is less.
const maxBody = 16 << 20

// Mark says how far an agent has come: every run of the plan with this number that was to start by Until has begun, or
// has its Result.
type Mark struct {
	Plan  uint64    `json:"plan"`
	Until time.Time `json:"until"`
}

// Spool is safe for use by several goroutines; Commit by one.
type Spool struct {
	config Config
	opened time.Time

	mu       sync.Mutex
	segments []*segment
	active   *segment // the last one, if it is written to
	last     uint64   // number given to a segment
	begun    map[ulid.ULID]*entry
	results  map[ulid.ULID]*entry
	order    []*entry // of Results, oldest first; some are gone
	fresh    []*entry // of Results that are written, but maybe not on the disk yet
	memory   map[*entry][]byte
	waiting  []*entry // in memory, oldest first; some are gone
	held     int      // bytes in memory
	mark     Mark
	dirty    bool  // something was written since the last Commit
	dropped  int   // Results lost for want of room
	trouble  error // of the last write or sync; nil if it went well
	found    []measure.Run
}

// entry is a frame that still counts, on disk or in memory. There may be a hundred thousand.
type entry struct {
	id    ulid.ULID
	seg   *segment // nil: in memory
	at    int32    // in the segment
	size  int32    // of the frame
	sent  int32    // seconds from opening the spool to the last delivery
	tries uint8    // of delivery; stays at 255
	safe  bool     // on disk for good
	gone  bool     // filed, or dropped
}

// Open reads what the folder holds. Damage costs the frames that it hit and is logged, and no error: errors are of the
// folder, such as no permission.
func Open(c Config) (*Spool, error) {
	if c.MaxBytes <= 0 {
		c.MaxBytes = 1e9
	}
	if c.MemoryBytes <= 0 {
		c.MemoryBytes = 4 << 20
	}
	if c.SegmentBytes <= 0 {
		c.SegmentBytes = 4 << 20
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	s := &Spool{config: c, opened: time.Now(), begun: map[ulid.ULID]*entry{}, results: map[ulid.ULID]*entry{},
		memory: map[*entry][]byte{}}
	if err := s.recover(); err != nil {
		return nil, fmt.Errorf("open spool %s: %w", c.Dir, err)
	}
	return s, nil
}

// Close commits and ends the use of the spool.
func (s *Spool) Close() error {
	err := s.Commit()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seg := range s.segments {
		seg.close()
	}
	return err
}

// Unfinished returns the runs that had begun, and had no Result, when the spool was opened.
func (s *Spool) Unfinished() []measure.Run { return s.found }

// Mark returns the last one set.
func (s *Spool) Mark() Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mark
}

// State is what a Spool says of itself.
type State struct {
	Results int   // not yet known to be filed
	Memory  int   // of these, those that the disk did not take
	Bytes   int64 // on disk
	Dropped int   // Results lost since the spool was opened, because there was no room
	Trouble error // why the last write failed; nil: it did not
}

// State returns how the spool is now.
func (s *Spool) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return State{Results: len(s.results), Memory: len(s.memory), Bytes: s.size(), Dropped: s.dropped, Trouble: s.trouble}
}

// Has reports whether a run has begun, or has a Result that is not yet filed.
func (s *Spool) Has(id string) bool {
	key, err := ulid.ParseStrict(id)
	if err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun[key] != nil || s.results[key] != nil
}

// size is how many bytes the log has on disk.
func (s *Spool) size() (total int64) {
	for _, seg := range s.segments {
		total += seg.size
	}
	return total
}
