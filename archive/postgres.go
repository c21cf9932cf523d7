package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// postgresStore keeps an archive in a PostgreSQL database, in the first schema of its search path. What grows is
// partitioned by time, so that pruning can drop whole tables.
type postgresStore struct {
	database
	parts map[string]bool // partitions that are known to be there
}

// How PostgreSQL is set up, and why:
const (
	// The lock that says that the archive is open: "pathwise" in ASCII. Locks are those of one database.
	postgresLock = 0x7061746877697365
	// How long another process may take to let go: a server notices within milliseconds that its client was killed.
	postgresPatience = "2s"
	// Queries at once. More wait, and so would moving: as many as a slow reader or two do not use up.
	postgresReaders = 16
)

// A server must find out within a minute that its client has gone, or its lock would keep the client out when it
// returns.
var postgresSettings = map[string]string{
	"application_name": "pathwise", "tcp_keepalives_idle": "20", "tcp_keepalives_interval": "10",
	"tcp_keepalives_count": "3",
}

func openPostgres(ctx context.Context, url string, log *slog.Logger) (store, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, badOption("url", withoutSecret(url), "postgres://user@host:port/database")
	}
	for name, v := range postgresSettings {
		if _, given := config.RuntimeParams[name]; !given {
			config.RuntimeParams[name] = v
		}
	}
	// Hardly a statement comes twice: prepared ones would only take memory.
	config.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	s := &postgresStore{parts: map[string]bool{}}
	s.isolation = sql.LevelRepeatableRead
	s.queries, s.changes = stdlib.OpenDB(*config), stdlib.OpenDB(*config)
	s.queries.SetMaxOpenConns(postgresReaders)
	s.queries.SetMaxIdleConns(postgresReaders)
	s.changes.SetMaxOpenConns(1)
	s.prepare = s.lock
	err = s.connect(ctx)
	if err == nil {
		err = migrate(ctx, s.queries, goose.DialectPostgres, "postgres", log)
	}
	if err != nil {
		return nil, errors.Join(s.explain(err), s.close())
	}
	return s, nil
}

// lock makes a new connection of the writer the only one.
func (s *postgresStore) lock(ctx context.Context, conn *sql.Conn) error {
	s.parts = map[string]bool{}
	for _, statement := range []string{"SET lock_timeout = '" + postgresPatience + "'",
		fmt.Sprintf("SELECT pg_advisory_lock(%d)", postgresLock),
		"SET lock_timeout = 0"} {
		if _, err := conn.ExecContext(ctx, statement); errors.Is(s.explain(err), errBusy) {
			return ErrInUse
		} else if err != nil {
			return fmt.Errorf("lock: %w", err)
		}
	}
	return nil
}

// explain implements store.
func (s *postgresStore) explain(err error) error {
	var e *pgconn.PgError
	switch {
	case !errors.As(err, &e):
	case e.Code == "53100": // disk_full
		return fmt.Errorf("%w: %w", ErrFull, err)
	case e.Code == "23505" && e.ConstraintName == "result_pkey": // unique_violation
		return fmt.Errorf("%w: %w", errFiled, err)
	case e.Code == "55P03": // lock_not_available
		return fmt.Errorf("%w: %w", errBusy, err)
	}
	return err
}

// change implements store. A partition that was made in a transaction that failed is not there.
func (s *postgresStore) change(ctx context.Context, f func(*tx) error) error {
	done := false
	defer func() {
		if !done {
			clear(s.parts)
		}
	}()
	err := s.database.change(ctx, f)
	done = err == nil
	return err
}

// copyIn writes rows as a stream, which takes a fraction of what statements would.
func (s *postgresStore) copyIn(ctx context.Context, rows table) error {
	if rows.n == 0 {
		return nil
	}
	err := s.writer.Raw(func(driver any) error {
		conn := driver.(*stdlib.Conn).Conn()
		_, err := conn.CopyFrom(ctx, pgx.Identifier{rows.name}, rows.columns,
			pgx.CopyFromSlice(rows.n, func(i int) ([]any, error) { return rows.row(i), nil }))
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", rows.name, err)
	}
	return nil
}

// What PostgreSQL says of the bounds of a partition: FOR VALUES FROM ('0', '1763683200') TO ('0', '1763769600').
var partitionEnd = regexp.MustCompile(`TO \('?(\d+)'?(?:, '?(\d+)'?)?\)$`)

// drop implements store.
func (s *postgresStore) drop(ctx context.Context, t *tx, day, slot int64, rollups [len(Levels)]int64) error {
	var table, name, bounds string
	var expired []string
	query := `SELECT p.relname, c.oid::regclass::text, pg_get_expr(c.relpartbound, c.oid) FROM pg_inherits i
		JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
		WHERE i.inhparent IN ('block'::regclass, 'points'::regclass, 'rollup'::regclass)`
	err := t.each(ctx, query, nil, []any{&table, &name, &bounds}, func() error {
		end := partitionEnd.FindStringSubmatch(bounds)
		if end == nil {
			return fmt.Errorf("partition %s has bounds %s", name, bounds)
		}
		first, _ := strconv.ParseInt(end[1], 10, 64)
		second, _ := strconv.ParseInt(end[2], 10, 64)
		if table == "block" && first <= day || table == "points" && first <= slot ||
			table == "rollup" && first < int64(len(Levels)) && second <= rollups[first] {
			expired = append(expired, name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list partitions: %w", err)
	}
	clear(s.parts)
	if _, err := t.exec(ctx, "SET LOCAL lock_timeout = '2s'"); err != nil { // all queries wait behind this one
		return fmt.Errorf("limit waiting: %w", err)
	}
	for _, name := range expired {
		if _, err := t.exec(ctx, "DROP TABLE "+name); err != nil {
			return fmt.Errorf("drop partition %s: %w", name, err)
		}
	}
	return nil
}

// giveBack implements store: dropped tables are given back at once, and what was deleted in others PostgreSQL uses
// again.
func (s *postgresStore) giveBack(context.Context) (bool, error) { return false, nil }
