package archive

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// database is what both stores are made of: connections for queries and one for the writer.
type database struct {
	queries   *sql.DB
	changes   *sql.DB                                // what the writer's connection comes from
	writer    *sql.Conn                              // nil: to be made again
	isolation sql.IsolationLevel                     // of reads: that in which all are of one moment
	prepare   func(context.Context, *sql.Conn) error // makes a new connection of the writer ready
}

// migrate brings the tables up to date, or says that they are of a newer Pathwise.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, folder string, log *slog.Logger) error {
	files, err := fs.Sub(migrations, "migrations/"+folder)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db, files, goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	sources := provider.ListSources()
	newest := sources[len(sources)-1].Version
	version, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read version of tables: %w", err)
	}
	if version > newest {
		return fmt.Errorf("tables are of version %d, known are those up to %d: %w", version, newest, ErrNewer)
	}
	if version > 0 && version < newest {
		log.Info("bringing the archive up to date, which takes a while if it is large", "from", version, "to", newest)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bring tables up to date: %w", err)
	}
	return nil
}

// connect makes sure that the writer has a connection.
func (d *database) connect(ctx context.Context) error {
	if d.writer != nil {
		return nil
	}
	conn, err := d.changes.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	if err := d.prepare(ctx, conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	d.writer = conn
	return nil
}

// view implements store.
func (d *database) view(ctx context.Context, f func(*tx) error) error {
	t, err := d.queries.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: d.isolation})
	if err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	defer t.Rollback() // it changes nothing
	return f(&tx{t})
}

// change implements store.
func (d *database) change(ctx context.Context, f func(*tx) error) error {
	if err := d.connect(ctx); err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended { // f panics
			d.after(errUnfinished)
		}
	}()
	err := d.transact(ctx, f)
	ended = true
	return d.after(err)
}

// errUnfinished is of a transaction that a panic ended.
var errUnfinished = errors.New("the transaction was not finished")

// transact calls f with a transaction, which is undone where f fails or panics.
func (d *database) transact(ctx context.Context, f func(*tx) error) error {
	t, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback() // after Commit it does nothing; a second error would say nothing more
	if err := f(&tx{t}); err != nil {
		return err
	}
	return t.Commit()
}

// pingTimeout is how long a database may take to say that it is there.
const pingTimeout = 5 * time.Second

// after lets go of a connection that was lost, so that the next call makes a new one.
func (d *database) after(err error) error {
	if err == nil || d.writer == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	if d.writer.PingContext(ctx) != nil {
		d.writer.Close()
		d.writer = nil
	}
	return err
}

func (d *database) close() error {
	var errs []error
	if d.writer != nil {
		errs = append(errs, d.writer.Close())
	}
	return errors.Join(append(errs, d.queries.Close(), d.changes.Close())...)
}
