package spool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// recover reads the whole log, segment by segment, and rebuilds what is kept in memory.
func (s *Spool) recover() error {
	numbers, err := segmentNumbers(s.config.Dir)
	if err != nil {
		return err
	}
	unfinished := map[ulid.ULID]measure.Run{}
	for _, number := range numbers {
		seg := &segment{number: number, path: segmentPath(s.config.Dir, number)}
		data, err := os.ReadFile(seg.path)
		if err != nil {
			return err
		}
		if len(data) > math.MaxInt32 {
			return fmt.Errorf("%s: %d bytes, which no spool wrote", seg.path, len(data))
		}
		seg.size = int64(len(data))
		s.segments = append(s.segments, seg)
		s.last = number
		between, after := scan(data, func(kind byte, body []byte, at int) { s.replay(seg, unfinished, kind, body, at) })
		if between > 0 {
			s.config.Log.Warn("spool damaged: what the bytes held is lost", "file", seg.path, "bytes", between)
		}
		if after > 0 {
			s.config.Log.Warn("spool cut off: its last record is lost", "file", seg.path, "bytes", after)
		}
	}
	for _, run := range unfinished {
		s.found = append(s.found, run)
	}
	slices.SortFunc(s.found, func(a, b measure.Run) int { return cmp.Compare(a.ID, b.ID) })
	return nil
}

// replay does what a frame says. One that cannot be read although its checksum is right was written by another version;
// it is passed over.
func (s *Spool) replay(seg *segment, unfinished map[ulid.ULID]measure.Run, kind byte, body []byte, at int) {
	switch kind {
	case kindMark:
		var m Mark
		if json.Unmarshal(body, &m) == nil {
			s.mark = m
		}
	case kindFiled:
		for ; len(body) >= len(ulid.ULID{}); body = body[len(ulid.ULID{}):] {
			id := ulid.ULID(body[:len(ulid.ULID{})])
			s.forget(id)
			delete(unfinished, id)
		}
	case kindBegun, kindResult:
		if len(body) < len(ulid.ULID{}) {
			return
		}
		e := &entry{id: ulid.ULID(body[:len(ulid.ULID{})]), seg: seg, at: int32(at), size: int32(headSize + len(body)), safe: true}
		var run measure.Run
		switch {
		case s.results[e.id] != nil:
		case kind == kindResult:
			s.release(e.id)
			delete(unfinished, e.id)
			s.add(e)
		case json.Unmarshal(body[len(e.id):], &run) == nil:
			s.release(e.id)
			s.begun[e.id] = e
			unfinished[e.id] = run
			seg.live += int64(e.size)
		}
	}
}
