package web

import (
	"context"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/generated"
)

// generatedPast is until when what the archive holds is made up, as package archive/generated does for demonstrations. It is
// looked for once a minute at most: a mesh that measures has none, and many ask.
type generatedPast struct {
	mutex sync.Mutex
	asked time.Time
	until *time.Time // nil: nothing is
}

// generatedAge is how old an answer may be.
const generatedAge = time.Minute

// generatedUntil is when the newest generated Result began; nil: there is none.
func (s *Server) generatedUntil(ctx context.Context) (*time.Time, error) {
	g := &s.generated
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if !g.asked.IsZero() && time.Since(g.asked) < generatedAge {
		return g.until, nil
	}
	page, err := s.Archive.Results(ctx, archive.ResultQuery{Test: generated.Label + "*", Limit: 1})
	if err != nil {
		return nil, err
	}
	g.asked, g.until = time.Now(), nil
	if len(page.Results) > 0 {
		at := page.Results[0].Started
		g.until = &at
	}
	return g.until, nil
}
