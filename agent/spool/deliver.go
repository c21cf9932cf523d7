package spool

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

const (
	// ackWait is how long the archive may take to say that it has a Result, before it is delivered again: a batch
	// takes it a second, and a controller that starts again ten.
	ackWait = 30 * time.Second
	// maxAckWait is the longest time between two deliveries of one Result; in between it doubles.
	maxAckWait = 10 * time.Minute

	// As much may be on its way: a second of a fast archive, and little to send twice when a connection breaks.
	windowResults = 512
	windowBytes   = 4 << 20
)

// Due returns the oldest Results that are to be delivered now, at most about limit bytes on disk: never delivered, or too
// long ago without being filed. Call Sent when they are on their way.
func (s *Spool) Due(limit int) ([]*measure.Result, error) {
	s.mu.Lock()
	picked := s.pick(limit)
	frames := make([][]byte, len(picked))
	places := make([]place, len(picked))
	for i, e := range picked {
		frames[i] = s.memory[e]
		if e.seg != nil {
			places[i] = placeOf(e)
		}
	}
	s.mu.Unlock()
	var r reader
	defer r.close()
	var results []*measure.Result
	var failed error
	for i, e := range picked {
		frame, err := frames[i], error(nil)
		if frame == nil {
			frame, err = r.read(places[i])
		}
		var result *measure.Result
		if err == nil {
			result, err = decode(frame)
		}
		if err != nil {
			if s.unreadable(e, places[i]) {
				failed = fmt.Errorf("read spool: %w", err)
			}
			continue
		}
		results = append(results, result)
	}
	return results, failed
}

// pick chooses what Due returns.
func (s *Spool) pick(limit int) (picked []*entry) {
	now := s.now()
	count, bytes := 0, 0 // on their way
	for _, e := range s.order {
		if count >= windowResults || bytes >= windowBytes || limit <= 0 {
			break
		}
		switch {
		case e.gone, !e.safe && e.seg != nil && s.trouble == nil:
			continue
		case e.tries > 0 && now-e.sent < int32(ackWait/time.Second):
			// on its way
		case e.tries > 0 && now-e.sent < wait(e.tries):
			continue
		default:
			picked = append(picked, e)
			limit -= int(e.size)
		}
		count++
		bytes += int(e.size)
	}
	return picked
}

// wait is how many seconds after the n-th delivery the next one is due.
func wait(n uint8) int32 {
	return int32(min(ackWait<<(min(n, 10)-1), maxAckWait) / time.Second)
}

// now is seconds since the spool was opened, by a clock that nobody steps.
func (s *Spool) now() int32 { return int32(time.Since(s.opened) / time.Second) }

// Sent notes that Results are on their way.
func (s *Spool) Sent(results []*measure.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range results {
		id, err := ulid.ParseStrict(r.ID)
		if e := s.results[id]; err == nil && e != nil {
			e.sent = s.now()
			e.tries = min(e.tries, 254) + 1
		}
	}
}

// unreadable gives up a Result that is not where it was found, unless it has been moved or filed since.
func (s *Spool) unreadable(e *entry, was place) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.gone || e.seg != nil && placeOf(e) != was {
		return false
	}
	s.drop(e)
	return true
}

// place is where a frame stands.
type place struct {
	path string
	at   int64
	size int
}

func placeOf(e *entry) place { return place{e.seg.path, int64(e.at), int(e.size)} }

// reader reads frames and keeps the last file open: neighbours stand in the same one.
type reader struct {
	path string
	file *os.File
}

func (r *reader) read(p place) ([]byte, error) {
	if r.file == nil || r.path != p.path {
		r.close()
		file, err := os.Open(p.path)
		if err != nil {
			return nil, err
		}
		r.path, r.file = p.path, file
	}
	frame := make([]byte, p.size)
	_, err := r.file.ReadAt(frame, p.at)
	return frame, err
}

func (r *reader) close() {
	if r.file != nil {
		r.file.Close()
	}
}

func decode(frame []byte) (*measure.Result, error) {
	kind, body, ok := parseFrame(frame)
	if !ok || kind != kindResult || len(body) < len(ulid.ULID{}) {
		return nil, fmt.Errorf("a record that was whole is damaged")
	}
	body = body[len(ulid.ULID{}):]
	size, err := s2.DecodedLen(body)
	if err != nil || size > maxBody {
		return nil, fmt.Errorf("a record that does not say its size: %w", err)
	}
	text, err := s2.Decode(nil, body)
	if err != nil {
		return nil, err
	}
	var r measure.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	return &r, nil
}
