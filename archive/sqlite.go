package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlitecode "modernc.org/sqlite/lib"

	"github.com/pathwise-net/pathwise/durable"
)

// sqliteStore keeps an archive in one SQLite file, with its write-ahead log (-wal, -shm) and a lock (-lock) beside it.
type sqliteStore struct {
	database
	lock *os.File
	path string

	statements map[string]*sql.Stmt // of the writer's connection
}

// How SQLite is set up, and why:
const (
	// A row of points or rollups is up to 2 kB; in pages of 8 kB it needs no page of its own.
	sqlitePageBytes = 8 << 10
	// All pages that what is now filed touches should stay in memory. In KiB, and so negative.
	sqliteCache = -64 << 10
	// How long the write-ahead log grows before its pages go to their places, each once, however often it changed: seldom
	// is cheap, but the log is read through when the file is opened after a kill.
	sqliteLogBytes = 64 << 20
	// Of each query, in KiB, and so negative: all pages of a series of some hundred rows of values and as many of samples, so that the next
	// of it reads none of them again.
	sqliteReadCache = -4 << 10
	// Queries at once. More wait, and so would moving: as many as a slow reader or two do not use up.
	sqliteReaders = 16
)

func openSQLite(ctx context.Context, path string, log *slog.Logger) (store, error) {
	if path == "" {
		return nil, badOption("url", "sqlite:", "sqlite:PATH")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	owner, err := durable.OwnerOf(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("find folder: %w", err)
	}
	lock, err := lockFile(owner, path+"-lock")
	if err != nil {
		return nil, err
	}
	s := &sqliteStore{lock: lock, path: path}
	if err := makeSQLite(owner, path); err != nil {
		return nil, errors.Join(fmt.Errorf("make file: %w", err), s.close())
	}
	if err := s.begin(ctx, log); err != nil {
		return nil, errors.Join(s.explain(err), s.close())
	}
	return s, nil
}

// makeSQLite makes an empty file, which is an empty database, if there is none. SQLite gives what it makes beside a file to
// the file's owner.
func makeSQLite(owner durable.Owner, path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := owner.Open(path, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

func (s *sqliteStore) begin(ctx context.Context, log *slog.Logger) error {
	pragmas := url.Values{"_pragma": {"busy_timeout(30000)", "synchronous(FULL)", "temp_store(MEMORY)"}}
	name := func(extra url.Values, pragma ...string) string {
		values := url.Values{"_pragma": append(pragma, pragmas["_pragma"]...)}
		maps.Copy(values, extra)
		return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: s.path}).EscapedPath(), RawQuery: values.Encode()}).String()
	}
	var err error
	s.changes, err = sql.Open("sqlite", name(url.Values{"_txlock": {"immediate"}}, fmt.Sprintf("cache_size(%d)",
		sqliteCache),
		fmt.Sprintf("wal_autocheckpoint(%d)", sqliteLogBytes/sqlitePageBytes), fmt.Sprintf("journal_size_limit(%d)",
			sqliteLogBytes)))
	if err != nil {
		return err
	}
	s.changes.SetMaxOpenConns(1)
	if s.queries, err = sql.Open("sqlite", name(nil, "query_only(1)", fmt.Sprintf("cache_size(%d)", sqliteReadCache))); err != nil {
		return err
	}
	s.queries.SetMaxOpenConns(sqliteReaders)
	s.queries.SetMaxIdleConns(sqliteReaders)
	// These stay in the file. They count only while it is empty, and in this order.
	pageSize := fmt.Sprintf("page_size = %d", sqlitePageBytes)
	for _, pragma := range []string{pageSize, "auto_vacuum = INCREMENTAL", "journal_mode = WAL"} {
		if _, err := s.changes.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	if err := migrate(ctx, s.changes, goose.DialectSQLite3, "sqlite", log); err != nil {
		return err
	}
	s.prepare = func(context.Context, *sql.Conn) error {
		s.statements = map[string]*sql.Stmt{}
		return nil
	}
	return s.connect(ctx)
}

// statement returns a prepared statement of the writer's connection.
func (s *sqliteStore) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	if known := s.statements[query]; known != nil {
		return known, nil
	}
	made, err := s.writer.PrepareContext(ctx, query)
	if err == nil {
		s.statements[query] = made
	}
	return made, err
}

// explain implements store.
func (s *sqliteStore) explain(err error) error {
	var e *sqlite.Error
	switch {
	case !errors.As(err, &e):
	case e.Code()&0xff == sqlitecode.SQLITE_FULL ||
		e.Code() == sqlitecode.SQLITE_IOERR_SHMSIZE: // of the log, or its index
		return fmt.Errorf("%w: %w", ErrFull, err)
	case e.Code() == sqlitecode.SQLITE_CONSTRAINT_PRIMARYKEY:
		return fmt.Errorf("%w: %w", errFiled, err)
	}
	return err
}

func (s *sqliteStore) close() error {
	var errs []error
	for _, statement := range s.statements {
		errs = append(errs, statement.Close())
	}
	if s.queries != nil {
		errs = append(errs, s.queries.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.Close())
	}
	if s.changes != nil {
		errs = append(errs, s.changes.Close())
	}
	return errors.Join(append(errs, unlockFile(s.lock))...)
}
