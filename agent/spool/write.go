package spool

import (
	"encoding/json"
	"fmt"

	"github.com/klauspost/compress/s2"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// Begin notes runs that are about to begin, and how far into its plan the agent has come; after a Commit, Unfinished
// returns them until they have a Result. The secrets of far ends are left out. After an error the runs may begin all the
// same, but will be forgotten if the agent is killed.
func (s *Spool) Begin(m Mark, runs ...measure.Run) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mark = m
	var frames []byte
	var entries []*entry
	for _, run := range runs {
		id, err := ulid.ParseStrict(run.ID)
		if err != nil {
			return fmt.Errorf("write spool: run %q: %w", run.ID, err)
		}
		run.Responder = nil
		text, err := json.Marshal(run)
		if err != nil {
			return fmt.Errorf("write spool: run %s: %w", run.ID, err)
		}
		e := &entry{id: id, at: int32(len(frames))}
		frames = appendFrame(frames, kindBegun, id[:], text)
		e.size = int32(len(frames)) - e.at
		entries = append(entries, e)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write spool mark: %w", err)
	}
	// The mark comes last: should power end between the two, a run that is noted but not marked is still known.
	seg, at, err := s.write(appendFrame(frames, kindMark, text))
	if err != nil {
		return err
	}
	for _, e := range entries {
		e.seg, e.at = seg, at+e.at
		seg.live += int64(e.size)
		s.release(e.id)
		s.begun[e.id] = e
	}
	return nil
}

// Put takes a Result. The first of several with one ID counts. It fails only for one that cannot be kept at all: what
// the disk does not take now is kept in memory and tried again by Commit.
func (s *Spool) Put(r *measure.Result) error {
	id, err := ulid.ParseStrict(r.ID)
	if err != nil {
		return fmt.Errorf("spool Result %q: %w", r.ID, err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("spool Result %s: %w", r.ID, err)
	}
	if len(text) > maxBody {
		return fmt.Errorf("spool Result %s of %d bytes: %w", r.ID, len(text), ErrTooLarge)
	}
	frame := appendFrame(nil, kindResult, id[:], s2.Encode(nil, text))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.results[id] != nil {
		return nil
	}
	e := &entry{id: id, size: int32(len(frame))}
	if e.seg, e.at, err = s.write(frame); err == nil {
		s.fresh = append(s.fresh, e)
	} else {
		s.remember(e, frame)
	}
	s.add(e)
	return nil
}

// Filed forgets Results, which are safe elsewhere.
func (s *Spool) Filed(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var known []byte
	for _, text := range ids {
		if id, err := ulid.ParseStrict(text); err == nil && s.forget(id) {
			known = append(known, id[:]...)
		}
	}
	if len(known) > 0 {
		_, _, _ = s.write(appendFrame(nil, kindFiled, known)) // unwritten, they are delivered once more after a restart
	}
}

// write appends frames to the log, and begins a segment if there is none to write to.
func (s *Spool) write(frames []byte) (seg *segment, at int32, err error) {
	defer func() { s.trouble = err }()
	if s.active == nil {
		s.last++
		if seg, err = newSegment(s.config.Dir, s.last); err != nil {
			return nil, 0, fmt.Errorf("write spool: %w", err)
		}
		s.active = seg
		s.segments = append(s.segments, seg)
		if text, err := json.Marshal(s.mark); err == nil { // older segments, with older marks, may go
			frames = append(appendFrame(nil, kindMark, text), frames...)
			defer func() { at += int32(headSize + len(text)) }()
		}
	}
	seg, at = s.active, int32(s.active.size)
	if err := seg.write(frames); err != nil {
		return nil, 0, fmt.Errorf("write spool: %w", err)
	}
	s.dirty = true
	return seg, at, nil
}

// add makes a Result known.
func (s *Spool) add(e *entry) {
	s.results[e.id] = e
	s.order = append(s.order, e)
	if e.seg != nil {
		e.seg.live += int64(e.size)
	}
}

// forget makes a Result, and that its run had begun, unknown, and reports whether a Result was known.
func (s *Spool) forget(id ulid.ULID) bool {
	s.release(id)
	e := s.results[id]
	if e == nil {
		return false
	}
	delete(s.results, id)
	e.gone = true
	if e.seg != nil {
		e.seg.live -= int64(e.size)
	} else {
		s.held -= int(e.size)
		delete(s.memory, e)
	}
	return true
}

// release forgets that a run had begun, once its Result is in the spool or is filed.
func (s *Spool) release(id ulid.ULID) {
	if e := s.begun[id]; e != nil {
		e.seg.live -= int64(e.size)
		delete(s.begun, id)
	}
}

// remember keeps in memory what the disk does not take.
func (s *Spool) remember(e *entry, frame []byte) {
	s.memory[e] = frame
	s.waiting = append(s.waiting, e)
	s.held += len(frame)
	for s.held > s.config.MemoryBytes && len(s.waiting) > 1 {
		oldest := s.waiting[0]
		s.waiting = s.waiting[1:]
		if !oldest.gone {
			s.drop(oldest)
		}
	}
}

// drop loses a Result for want of room.
func (s *Spool) drop(e *entry) {
	delete(s.results, e.id)
	e.gone = true
	s.dropped++
	if e.seg != nil {
		e.seg.live -= int64(e.size)
		return
	}
	s.held -= int(e.size)
	delete(s.memory, e)
}
