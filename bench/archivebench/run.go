package archivebench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/postgrestest"
)

// Options say what Run measures.
type Options struct {
	Dir            string // where the archives are made, in a folder that is deleted again; "": the system's for such things
	SQLitePoints   int    // how many go into SQLite, and into rrdtool at most; 0: SQLite is left out, and the year
	PostgresPoints int    // how many go into PostgreSQL; 0: it is left out
	// Postgres is the URL of an empty database, which is not emptied again; "": a server is started for this, if one is
	// installed. What it takes of memory and processor is known only of one that is started.
	Postgres string
	RRDTool  bool // run it beside
}

// rrdPoints is how many values rrdtool gets at most: a dozen seconds of its work, in which its rate has settled.
const rrdPoints = 2_000_000

// run is one call of Run.
type run struct {
	Options
	minutes int // of the year that is drawn: Year, or less in a test
	out     io.Writer
	folder  string
	rates   map[string]float64 // points a second, by who takes them
}

// Run fills archives with runs of twelve metrics of a mesh, as a hub would, and prints how fast that goes and what it
// takes; then it draws a year of one pair, and feeds rrdtool the same. A point is one value of one metric. What is not
// installed is left out, and said so.
func Run(ctx context.Context, o Options, out io.Writer) error {
	r := &run{Options: o, minutes: Year, out: out, rates: map[string]float64{}}
	return r.all(ctx)
}

func (r *run) all(ctx context.Context) (err error) {
	r.folder, err = os.MkdirTemp(r.Dir, "archivebench-")
	if err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.folder)) }()
	fmt.Fprintf(r.out, "runs of %d metrics of %d pairs, whole Results, rollups on; a point is one value\n", MetricsPerRun,
		Load{}.withDefaults().Pairs)
	for _, step := range []func(context.Context) error{r.sqlite, r.postgres, r.rrdtool, r.year} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	r.compare()
	return nil
}

func (r *run) sqlite(ctx context.Context) error {
	if r.SQLitePoints == 0 {
		return nil
	}
	path := filepath.Join(r.folder, "archive.db")
	f, use, err := fillAt(ctx, path, r.SQLitePoints, nil)
	if err != nil {
		return fmt.Errorf("fill SQLite: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	r.print("SQLite", f, use, info.Size())
	return os.Remove(path)
}

func (r *run) postgres(ctx context.Context) (err error) {
	if r.PostgresPoints == 0 {
		return nil
	}
	url := r.Postgres
	var server *postgrestest.Server
	if url == "" {
		if server, err = postgrestest.Start(ctx, ServerOptions...); errors.Is(err, postgrestest.ErrNone) {
			fmt.Fprintf(r.out, "PostgreSQL: left out: %v\n", err)
			return nil
		} else if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Stop()) }()
		if url, err = server.Create(ctx, "archivebench"); err != nil {
			return fmt.Errorf("create database: %w", err)
		}
	}
	f, use, err := fillAt(ctx, url, r.PostgresPoints, server)
	if err != nil {
		return fmt.Errorf("fill PostgreSQL: %w", err)
	}
	size, err := databaseSize(ctx, url)
	if err != nil {
		return fmt.Errorf("ask PostgreSQL for its size: %w", err)
	}
	r.print("PostgreSQL", f, use, size)
	return nil
}

// fillAt fills a new archive and closes it.
func fillAt(ctx context.Context, url string, points int, server *postgrestest.Server) (Filling, Use, error) {
	a, err := archive.Open(ctx, url, archive.Options{})
	if err != nil {
		return Filling{}, Use{}, err
	}
	if n := a.Stats().Streams; n > 0 {
		return Filling{}, Use{}, errors.Join(fmt.Errorf("the archive has %d streams: give one that is empty", n), a.Close())
	}
	m := startMeter(server)
	f, err := Fill(ctx, a, Load{Values: points})
	return f, m.stop(), err
}

func databaseSize(ctx context.Context, url string) (size int64, err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&size)
	return size, err
}

func (r *run) print(name string, f Filling, u Use, size int64) {
	r.rates[name] = f.ValuesPerSecond
	fmt.Fprintf(r.out, "%s: %d points in %.1f s: %.0f points/s", name, f.Values, f.Seconds, f.ValuesPerSecond)
	if first, last, ok := f.ends(); ok {
		fmt.Fprintf(r.out, " (first tenth %.0f, last %.0f, without closing)", first, last)
	}
	perPoint := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(f.Values) }
	fmt.Fprintf(r.out, "\n  %.1f bytes a point on disk; slowest call %.0f ms; peak memory %.0f MB\n",
		float64(size)/float64(f.Values), f.SlowestPut.Seconds()*1e3, float64(u.PeakBytes)/1e6)
	fmt.Fprintf(r.out, "  processor %.2f µs a point", perPoint(u.Own))
	if u.Server > 0 {
		fmt.Fprintf(r.out, ", and the server %.2f µs", perPoint(u.Server))
	}
	fmt.Fprintf(r.out, "; %s\n", u.describeOthers())
}

func (r *run) rrdtool(ctx context.Context) error {
	if !r.RRDTool {
		return nil
	}
	if _, err := exec.LookPath("rrdtool"); err != nil {
		fmt.Fprintln(r.out, "rrdtool: left out: it is not installed (Debian: rrdtool)")
		return nil
	}
	points := rrdPoints
	if most := max(r.SQLitePoints, r.PostgresPoints); most > 0 {
		points = min(points, most)
	}
	m := startMeter(nil)
	f, err := FillRRD(ctx, r.folder, points)
	if err != nil {
		return fmt.Errorf("fill rrdtool: %w", err)
	}
	r.rates["rrdtool"] = f.ValuesPerSecond
	fmt.Fprintf(r.out, "rrdtool: %d points in %.1f s: %.0f points/s (one pipe, an update a run, %d files); %s\n", f.Values,
		f.Seconds, f.ValuesPerSecond, rrdPairs, m.stop().describeOthers())
	return nil
}

// year draws a year from SQLite. A year does not come in ten minutes: that it waits to be moved is not what is measured.
func (r *run) year(ctx context.Context) error {
	if r.SQLitePoints == 0 {
		return nil
	}
	path := filepath.Join(r.folder, "year.db")
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	end := start.Add(time.Duration(r.minutes) * time.Minute)
	o := archive.Options{Now: func() time.Time { return end }, Retention: []archive.Rule{{Points: archive.Forever}}}
	a, err := archive.Open(ctx, path, o)
	if err != nil {
		return err
	}
	if err := errors.Join(FillYear(ctx, a, start, r.minutes), a.Close()); err != nil {
		return err
	}
	if a, err = archive.Open(ctx, path, o); err != nil {
		return err
	}
	m := startMeter(nil)
	drawings, err := DrawYear(ctx, a, start, r.minutes, 20)
	if err := errors.Join(err, a.Close()); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "a year of one pair, %d points, with three percentiles, from SQLite (median of 20; %s):\n", r.minutes,
		m.stop().describeOthers())
	for _, d := range drawings {
		fmt.Fprintf(r.out, "  %-14s %5d buckets %8.1f ms\n", d.What, d.Buckets, d.Took.Seconds()*1e3)
	}
	return nil
}

// compare says how many times as fast as rrdtool the archives were.
func (r *run) compare() {
	for _, name := range []string{"SQLite", "PostgreSQL"} {
		if ours, theirs := r.rates[name], r.rates["rrdtool"]; ours > 0 && theirs > 0 {
			fmt.Fprintf(r.out, "%s takes %.1f times the points/s of rrdtool\n", name, ours/theirs)
		}
	}
}
