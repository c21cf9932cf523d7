package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/durable"
)

// Options of a Book. The zero value is fit for use.
type Options struct {
	Now  func() time.Time // nil: the clock
	Rand io.Reader        // nil: the system's randomness
	Log  *slog.Logger     // nil: none; of what cannot be returned, such as a session that is not on disk yet
}

// Book is the accounts of one controller. It is safe for concurrent use, and so are several Books of one folder: what one
// changes counts for the next call of another, and no change undoes another's.
//
//	a change:  lock -> read the file anew -> change -> write it down in the log -> replace the file -> unlock
//
// A change that cannot be written down is not made. If the file cannot be replaced then, the log says that too.
type Book struct {
	folder string
	owner  durable.Owner
	now    func() time.Time
	random io.Reader
	log    *slog.Logger

	contents latest[contents]
	sessions latest[sessionStore]
	memory   memory
	verifier passwordVerifier
	audit    audit
	dummy    hash // what is checked for a name that has no password

	mu sync.Mutex // one change at a time
}

const (
	bookFolder   = "accounts"
	contentsFile = "accounts.json"
	sessionsFile = "sessions.json"
	lockFile     = "lock"
	auditFolder  = "audit"
)

// Open opens the accounts of the controller whose folder it is; a controller that has none yet gets them with the first
// change. An accounts.json that cannot be read is an error: without it nobody could be told from anybody.
func Open(folder string, o Options) (*Book, error) { return open(folder, o, usualCost) }

func open(folder string, o Options, c cost) (*Book, error) {
	b := &Book{folder: filepath.Join(folder, bookFolder), now: o.Now, random: o.Rand, log: o.Log}
	if b.now == nil {
		b.now = time.Now
	}
	if b.random == nil {
		b.random = rand.Reader
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if b.owner, err = durable.OwnerOf(folder); err != nil {
		return nil, fmt.Errorf("open accounts: %w", err)
	}
	for _, f := range []string{b.folder, filepath.Join(folder, auditFolder)} {
		if err := b.owner.Mkdir(f); err != nil {
			return nil, fmt.Errorf("open accounts: %w", err)
		}
	}
	b.contents = latest[contents]{path: filepath.Join(b.folder, contentsFile), parse: parseContents}
	b.sessions = latest[sessionStore]{path: filepath.Join(b.folder, sessionsFile), parse: b.parseSessions}
	b.memory.pending = pending{map[digest]*session{}, map[digest]time.Time{}}
	b.verifier = passwordVerifier{cost: c, throttle: newThrottle(), slot: make(chan struct{}, 1)}
	b.audit = audit{folder: filepath.Join(folder, auditFolder), owner: b.owner, bytes: auditBytes, files: auditFiles}
	if b.dummy, err = newDummy(b.random, c); err != nil {
		return nil, fmt.Errorf("open accounts: %w", err)
	}
	_, contentsErr := b.contents.get()
	_, sessionsErr := b.sessions.get()
	if err := errors.Join(contentsErr, sessionsErr); err != nil {
		b.contents.close()
		b.sessions.close()
		return nil, fmt.Errorf("open accounts: %w", err)
	}
	return b, nil
}

// Close puts on disk what is only in memory yet, as Tidy does.
func (b *Book) Close() error {
	err := b.Tidy()
	b.contents.close()
	b.sessions.close()
	return err
}

// tidyEvery is how coarsely it is known when a session or a token was last used, for a controller that is killed.
const tidyEvery = 5 * time.Minute

// Keep tidies every five minutes until ctx ends. The one process that lets people sign in calls it, besides Close.
func (b *Book) Keep(ctx context.Context) {
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := b.Tidy(); err != nil {
				b.log.Warn("keep sessions", "error", err)
			}
		}
	}
}

// act is a change that somebody asks for, as the log has it.
type act struct {
	by       Actor
	what, on string
}

// change edits accounts.json for somebody. allowed says whether that one may, as far as that is known without the file;
// edit returns ErrDenied where it is not. An error of edit leaves everything as it was.
func (b *Book) change(a act, allowed bool, edit func(*contents) error) error {
	if !allowed {
		b.Refused(a.entry("denied"))
		return ErrDenied
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return withLock(b.owner, b.folder, func() error {
		c, err := b.fresh()
		if err != nil {
			return err
		}
		if err := edit(c); errors.Is(err, ErrDenied) {
			b.Refused(a.entry("denied"))
			return err
		} else if err != nil {
			return err
		}
		if err := c.index(); err != nil {
			return fmt.Errorf("change accounts: %w", err)
		}
		if err := b.Note(a.entry("ok")); err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
		if err := b.owner.Replace(b.contents.path, toJSON(c)); err != nil {
			if err := b.Note(a.entry("failed, and nothing was changed")); err != nil {
				b.log.Error("the log has a change that was not made", "what", a.what, "on", a.on, "error", err)
			}
			return fmt.Errorf("change accounts: %w", err)
		}
		return nil
	})
}

// fresh returns a copy of what is in the file, to be changed.
func (b *Book) fresh() (*contents, error) {
	if _, err := b.contents.get(); err != nil { // a file that was taken away is not begun anew
		return nil, err
	}
	text, err := os.ReadFile(b.contents.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read accounts: %w", err)
	}
	return parseContents(text)
}
