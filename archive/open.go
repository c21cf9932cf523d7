package archive

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// Options say how an archive behaves. The zero value is ready for use.
type Options struct {
	// Retention says how long things are kept; the first rule that matches and says something counts. What no rule
	// speaks of is kept as by DefaultRule.
	Retention []Rule
	// MoveEvery is how long values wait in the journal before they are moved to points and rollups: 0 is 10 minutes. The
	// longer, the less is written, and the more is read when the archive is opened after a kill.
	MoveEvery time.Duration
	// MoveValues is how many values may wait; 0 is 4,000,000, which take about 80 MB of memory while they are moved.
	MoveValues int
	// Now is the clock, for what is kept and what is not; nil is time.Now.
	Now func() time.Time
	// Log gets what goes wrong when nobody waits for an answer, which is also in Stats, and what takes long to open; nil:
	// nothing is logged.
	Log *slog.Logger
}

// Validate says what is wrong with the options, as bad input.
func (o Options) Validate() error {
	if _, err := newRetention(o.Retention); err != nil {
		return err
	}
	if o.MoveEvery < 0 {
		return badOption("MoveEvery", o.MoveEvery.String(), "a positive time, or 0 for 10 minutes")
	}
	if o.MoveValues < 0 {
		return badOption("MoveValues", fmt.Sprint(o.MoveValues), "a positive number, or 0 for 4,000,000")
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.MoveEvery = cmp.Or(o.MoveEvery, 10*time.Minute)
	o.MoveValues = cmp.Or(o.MoveValues, 4_000_000)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Open opens the archive at a URL, and makes it if there is none: a path, or sqlite:PATH, for one SQLite file on a
// local disk, postgres://... for a PostgreSQL database (as of libpq). It brings an older layout up to date. Errors that
// a caller can act upon: bad input, ErrInUse, ErrNewer, ErrHalfRestored, ErrFull.
func Open(ctx context.Context, url string, o Options) (Archive, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	s, err := openStore(ctx, url, o.Log)
	if err != nil {
		return nil, fmt.Errorf("open archive %s: %w", withoutSecret(url), err)
	}
	k, err := newKeeper(ctx, s, o)
	if err != nil {
		s.close()
		return nil, fmt.Errorf("open archive %s: %w", withoutSecret(url), err)
	}
	return k, nil
}

func openStore(ctx context.Context, url string, log *slog.Logger) (store, error) {
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case url == "":
		return nil, badOption("url", url, "the path of a file, or postgres://user@host/database")
	case found && (scheme == "postgres" || scheme == "postgresql"):
		return openPostgres(ctx, url, log)
	case found && scheme == "sqlite":
		return openSQLite(ctx, strings.TrimPrefix(rest, "//"), log)
	case found && !strings.ContainsAny(scheme, "/.") && strings.HasPrefix(rest, "//"):
		return nil, badOption("url", withoutSecret(url), "a path, sqlite:PATH or postgres://...")
	}
	return openSQLite(ctx, url, log)
}

// withoutSecret is a URL as it may stand in a log: without what is before the @, where passwords are, and without what
// is after the ?, where they may be as well.
func withoutSecret(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	if !found {
		return url
	}
	rest, _, _ = strings.Cut(rest, "?")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}
