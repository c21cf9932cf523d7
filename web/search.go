package web

import (
	"context"
	"iter"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// searchTime is how long the past is searched for Results that are few among many, newest first: who waits for a page
	// waits for this.
	searchTime = 400 * time.Millisecond
	// searchSpan is how much of it is searched at once to begin with; twice as much, as long as that is quick.
	searchSpan = 6 * time.Hour
	// searchEnough is how many Results make an answer after that time; for fewer, on a busy machine, three times as long is
	// worth the wait.
	searchEnough   = 500
	searchPatience = 3
	// searchPage is how many Results are read at once.
	searchPage = 500
)

// search calls each for what a query finds, newest first: at most so many, and as far back as searchTime reaches. more: there
// may be others before.
func (s *Server) search(ctx context.Context, query archive.ResultQuery, most int, each func(*measure.Result)) (more bool, err error) {
	found, began := 0, time.Now()
	from := query.From
	query.Limit = searchPage
	for query.From, query.To = range windows(query.From, query.To, began) {
		for r, err := range s.Archive.All(ctx, query) {
			if err != nil {
				return false, err
			}
			if found++; found > most {
				return true, nil
			}
			each(r)
		}
		if took := time.Since(began); took > searchTime && query.From.After(from) && (found >= searchEnough || took > searchPatience*searchTime) {
			return true, nil
		}
	}
	return false, nil
}

// windows are the parts of a span, newest first. An open beginning is as long ago as anything is kept.
func windows(from, to, now time.Time) iter.Seq2[time.Time, time.Time] {
	return func(yield func(time.Time, time.Time) bool) {
		if to.IsZero() || to.After(now) {
			to = now.Add(time.Minute) // of hosts whose clock is ahead
		}
		if from.IsZero() {
			from = to.AddDate(-10, 0, 0)
		}
		span, asked := searchSpan, time.Now()
		for to.After(from) {
			begin := to.Add(-span)
			if begin.Before(from) {
				begin = from
			}
			if !yield(begin, to) {
				return
			}
			if time.Since(asked) < searchTime/8 {
				span *= 2
			}
			to, asked = begin, time.Now()
		}
	}
}
