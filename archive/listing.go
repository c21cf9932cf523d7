package archive

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
)

// listing is a ResultQuery made ready.
type listing struct {
	from, to int64
	before   ulid.ULID // of those at the time to, only IDs below this one; zero: none
	limit    int
	status   int  // -1: any
	every    bool // stream
	wanted   map[streamID]bool
	soon     int64 // no clock that is right is ahead of this, ns since 1970

	view      *view // of the streams, where they are few; nil
	tools     map[string]bool
	condition string // of the query
	together  int    // how many rows are read at a time
}

func (k *keeper) newListing(q ResultQuery) (*listing, error) {
	s, err := newSelector(Match{Source: q.Source, Target: q.Target, Test: q.Test, Tool: q.Tool, Role: q.Role, Subject: q.Subject}, q.Kind)
	if err != nil {
		return nil, err
	}
	k.memory.RLock()
	every := s.everyStream(k.names.subjects)
	k.memory.RUnlock()
	l := &listing{limit: q.Limit, status: -1, every: every}
	switch {
	case q.Limit < 0:
		return nil, badQuery("limit", fmt.Sprint(q.Limit), fmt.Sprintf("1 to %d, or 0 for %d", largestPage, usualPage))
	case q.Limit == 0:
		l.limit = usualPage
	}
	l.limit = min(l.limit, largestPage)
	if q.Status != "" {
		if l.status = slices.Index(statuses, q.Status); l.status < 0 {
			return nil, badQuery("status", string(q.Status), "ok, partial or failed")
		}
	}
	l.from, l.to = span(q.From, q.To)
	if q.Cursor != "" {
		if err := l.resume(q.Cursor); err != nil {
			return nil, err
		}
	}
	l.choose(k, s)
	return l, nil
}

// choose finds the streams that are asked for, and what to ask the database.
func (l *listing) choose(k *keeper, s selector) {
	l.wanted, l.tools, l.together = map[streamID]bool{}, map[string]bool{}, l.limit
	l.soon = k.options.Now().Add(time.Hour).UnixNano()
	var streams []streamID
	oldest, newest := end, int64(0) // run of any of them
	k.memory.RLock()
	for _, found := range k.names.find(s) {
		streams = append(streams, found.id)
		l.wanted[found.id] = true
		l.tools[found.key.tool] = true
		oldest, newest = min(oldest, found.first), max(newest, found.last+1)
	}
	k.memory.RUnlock()
	if l.status >= 0 {
		l.condition = fmt.Sprintf(" AND status = %d", l.status)
	}
	if !l.every && len(streams) <= fewStreams {
		l.condition += " AND " + among("stream", streams)
	} else if !l.every {
		l.together = 20 * l.limit
	}
	l.from = max(l.from, min(oldest-1, l.to))
	// Troubled ones are few, and have an index of their own.
	if !l.every && l.status <= 0 && len(streams) <= namedStreams && newest <= l.soon {
		l.view = k.newView(s)
	}
	if newest < l.to {
		l.to, l.before = max(l.from, newest), ulid.ULID{}
	}
}

// A cursor is the time and the ID of the last Result that was looked at.
func cursorOf(at int64, id []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(nil, uint64(at)), id...))
}

func (l *listing) resume(cursor string) error {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) != 8+len(l.before) {
		return badQuery("cursor", cursor, "the one that came with the page before")
	}
	at := int64(binary.BigEndian.Uint64(raw))
	if at >= l.to {
		return nil // it is of another query, which ended later: begin where this one does
	}
	l.to = at
	copy(l.before[:], raw[8:])
	return nil
}

// fewStreams is how many streams are named in the query, so that the database passes over the others.
const fewStreams = 1000

// scan goes back in time until the page is full, or enough was looked at. It does so window by window, each four times
// as long as the one before: no backend can go through all of its Results in order of time at once. What has a time to
// come, by a clock that is wrong, is a window of its own.
//
//	from                                                                                          soon    to
//	 |------------------------------------|------------------------|------------------|--------------|-----|
func (l *listing) scan(ctx context.Context, k *keeper, t *tx) (places []place, next string, err error) {
	if places, err = l.scanBlocks(ctx, k, t, nil); err == nil && len(places) < l.limit {
		places, err = l.scanRuns(ctx, k, t, places)
	}
	if err != nil {
		return nil, "", err
	} else if len(places) == l.limit {
		return places, cursorOf(l.to, l.before[:]), nil
	}
	window := int64(time.Minute)
	for scanned := 0; l.from < l.to; {
		start := l.soon
		if l.to <= l.soon {
			start = l.to - window
			window *= 4
		}
		start = max(l.from, start)
		for n := l.together; n == l.together; {
			places, n, err = l.scanWindow(ctx, t, start, places)
			switch scanned += n; {
			case err != nil:
				return nil, "", err
			case len(places) == l.limit || scanned > mostScanned:
				return places, cursorOf(l.to, l.before[:]), nil
			}
		}
		l.to, l.before = start, ulid.ULID{}
	}
	return places, "", nil
}

// scanWindow adds the next Results of a window that begins at start, and says how many it looked at.
func (l *listing) scanWindow(ctx context.Context, t *tx, start int64, places []place) ([]place, int, error) {
	return l.read(ctx, t, fmt.Sprintf("time >= %d AND time <= %d", start, l.to), places)
}

// read adds the next Results of those that a condition picks, and says how many it looked at.
func (l *listing) read(ctx context.Context, t *tx, condition string, places []place) ([]place, int, error) {
	var id []byte
	var s streamID
	var where place
	n := 0
	query := "SELECT id, time, stream, block, line FROM result" +
		" WHERE " + condition + " AND (time < $1 OR id < $2)" + l.condition +
		fmt.Sprintf(" ORDER BY time DESC, id DESC LIMIT %d", l.together)
	err := t.each(ctx, query, []any{l.to, l.before[:]}, []any{&id, &l.to, &s, &where.block, &where.line},
		func() error {
			where.time = l.to
			n++
			copy(l.before[:], id)
			if !l.every && !l.wanted[s] {
				return nil
			}
			if places = append(places, where); len(places) == l.limit {
				return errEnough
			}
			return nil
		})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, 0, fmt.Errorf("look through results: %w", err)
	}
	return places, n, nil
}
