package spool

import (
	"fmt"
	"os"
	"slices"

	"github.com/oklog/ulid/v2"
)

// Commit puts everything that was written on the disk, for good, and makes room. One Commit for many writes is what
// makes them cheap. It may take as long as the disk does; other calls go on meanwhile.
func (s *Spool) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	if err := s.sync(); err != nil {
		return err
	}
	err := s.clean()
	if s.active != nil && !s.dirty && s.active.size >= s.config.SegmentBytes {
		s.active.close()
		s.active = nil // the next write begins another
	}
	return err
}

// flush writes what the disk did not take before.
func (s *Spool) flush() {
	for len(s.waiting) > 0 {
		e := s.waiting[0]
		if !e.gone {
			seg, at, err := s.write(s.memory[e])
			if err != nil {
				return
			}
			e.seg, e.at = seg, at
			seg.live += int64(e.size)
			s.held -= int(e.size)
			delete(s.memory, e)
			s.fresh = append(s.fresh, e)
		}
		s.waiting = s.waiting[1:]
	}
}

// sync unlocks the spool while the disk works.
func (s *Spool) sync() error {
	if s.active == nil || !s.dirty {
		return nil
	}
	seg, file, fresh := s.active, s.active.file, s.fresh
	s.fresh, s.dirty = nil, false
	s.mu.Unlock()
	err := file.Sync()
	s.mu.Lock()
	for _, e := range fresh {
		e.safe = true // if the disk failed, there is no more to be done for them than to deliver them
	}
	if err != nil {
		// The kernel forgets what it could not write, and reports that once: go on in another file.
		s.trouble = fmt.Errorf("write spool: %w", err)
		seg.close()
		if s.active == seg {
			s.active = nil
		}
		return s.trouble
	}
	for _, e := range fresh {
		s.release(e.id)
	}
	return nil
}

// clean removes the oldest segments if they no longer count, and copies or drops what stands in the way. The active one
// stays: it holds the mark.
func (s *Spool) clean() error {
	for s.active != nil && s.segments[0] != s.active {
		head := s.segments[0]
		if head.live == 0 {
			if err := os.Remove(head.path); err != nil && !os.IsNotExist(err) {
				return fmt.Errorf("clean spool: %w", err)
			}
			s.segments = s.segments[1:]
			continue
		}
		var live int64
		for _, seg := range s.segments {
			live += seg.live
		}
		switch size := s.size(); {
		case size > s.config.MaxBytes:
			s.config.Log.Warn("spool full: its oldest Results are lost", "bytes", size, "allowed", s.config.MaxBytes)
			s.dropFrom(head)
		case size < 2*live+2*s.config.SegmentBytes:
			s.tidy()
			return nil
		}
		if err := s.copyFrom(head); err != nil {
			return err
		}
		if err := s.sync(); err != nil { // the copies must be on the disk before the original goes
			return err
		}
	}
	s.tidy()
	return nil
}

// dropFrom loses the Results in a segment.
func (s *Spool) dropFrom(seg *segment) {
	for _, e := range s.order {
		if e.seg == seg && !e.gone {
			s.drop(e)
		}
	}
}

// copyFrom copies what counts in a segment to the end of the log.
func (s *Spool) copyFrom(seg *segment) error {
	file, err := os.Open(seg.path)
	if err != nil {
		return fmt.Errorf("clean spool: %w", err)
	}
	defer file.Close()
	for _, group := range [][]*entry{s.begunIn(seg), s.order} {
		for _, e := range group {
			if e.seg != seg || e.gone {
				continue
			}
			frame := make([]byte, e.size)
			if _, err := file.ReadAt(frame, int64(e.at)); err != nil {
				return fmt.Errorf("clean spool: %w", err)
			}
			to, at, err := s.write(frame)
			if err != nil {
				return err
			}
			seg.live -= int64(e.size)
			to.live += int64(e.size)
			e.seg, e.at = to, at
		}
	}
	return nil
}

func (s *Spool) begunIn(seg *segment) (in []*entry) {
	for _, e := range s.begun {
		if e.seg == seg {
			in = append(in, e)
		}
	}
	slices.SortFunc(in, func(a, b *entry) int { return ulid.ULID.Compare(a.id, b.id) })
	return in
}

// tidy forgets the entries that are gone, once they are many.
func (s *Spool) tidy() {
	if len(s.order) > 2*len(s.results)+1000 {
		s.order = slices.DeleteFunc(s.order, func(e *entry) bool { return e.gone })
	}
}
