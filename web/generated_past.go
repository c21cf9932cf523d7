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
	next  time.Time  // when it is looked for again
	until *time.Time // nil: nothing is
	err   error      // why it was not found out the last time
}

const (
	// generatedAge is how old an answer may be, and failedAge one that says that there was none.
	generatedAge = time.Minute
	failedAge    = 5 * time.Second
	// generatedTimeout is how long the archive may take, while all who open a page wait.
	generatedTimeout = 2 * time.Second
)

// generatedUntil is when the newest generated Result began; nil: there is none. With an error, it is what was known before. No
// test of a mesh file has a space in its name.
func (s *Server) generatedUntil(ctx context.Context) (*time.Time, error) {
	g := &s.generated
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if time.Now().Before(g.next) {
		return g.until, g.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), generatedTimeout) // it is for all who ask
	defer cancel()
	page, err := s.Archive.Results(ctx, archive.ResultQuery{Test: generated.Label + " *", Limit: 1})
	if g.err = err; err != nil {
		g.next = time.Now().Add(failedAge)
		return g.until, err
	}
	g.next, g.until = time.Now().Add(generatedAge), nil
	if len(page.Results) > 0 {
		g.until = new(page.Results[0].Started)
	}
	return g.until, nil
}
