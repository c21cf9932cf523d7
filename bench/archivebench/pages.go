package archivebench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/measure"
)

// PageOptions say how large an archive is that pages are drawn from. Zero values are those that docs/bench.md names.
type PageOptions struct {
	Keep     string // a folder in which the archive is kept, and found the next time; "": one that is deleted again
	Few      int    // hosts of the mesh with a long past; 0: 12
	FewDays  int    // 0: 365
	Many     int    // hosts of the other one; 0: 200
	ManyDays int    // 0: 30
	Viewers  int    // at once; 0: 50
	Seconds  int    // that they look; 0: 20
}

func (o PageOptions) withDefaults() PageOptions {
	for field, usual := range map[*int]int{&o.Few: 12, &o.FewDays: 365, &o.Many: 200, &o.ManyDays: 30, &o.Viewers: 50,
		&o.Seconds: 20} {
		if *field == 0 {
			*field = usual
		}
	}
	return o
}

// pages is one call of Pages.
type pages struct {
	PageOptions
	out    io.Writer
	end    time.Time // of all that was measured, and the time at which it is first looked at
	opened time.Time // when that was
	a      archive.Archive
	few    archive.Match // a pair of the mesh with a long past
	one    archive.Match // a pair of the other one
}

// Pages fills an archive in SQLite with the generated past of two meshes, and prints how long it takes to answer what
// pages ask: once each, and with many viewers at once. Nothing is asked over HTTP.
func Pages(ctx context.Context, o PageOptions, out io.Writer) (err error) {
	p := &pages{PageOptions: o.withDefaults(), out: out, end: time.Date(2026, 11, 22, 15, 25, 0, 0, time.UTC),
		few: archive.Match{Source: "few1", Target: "few2", Metric: string(measure.RTTMedian)},
		one: archive.Match{Source: "many1", Target: "many2", Metric: string(measure.RTTMedian)}}
	folder := p.Keep
	if folder == "" {
		if folder, err = os.MkdirTemp("", "archivebench-"); err != nil {
			return fmt.Errorf("make folder: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	}
	name := fmt.Sprintf("pages-%dx%d-%dx%d.db", p.Few, p.FewDays, p.Many, p.ManyDays)
	path := filepath.Join(folder, name)
	if _, err := os.Stat(path); err != nil {
		if err := p.fill(ctx, path); err != nil {
			return err
		}
	}
	if p.Keep != "" { // what comes in while it is looked at is not to be there the next time
		kept := path
		path += ".now"
		defer func() { err = errors.Join(err, remove(path)) }()
		if err := errors.Join(remove(path), copyFile(path, kept)); err != nil {
			return fmt.Errorf("copy %s: %w", kept, err)
		}
	}
	p.opened = time.Now()
	if p.a, err = archive.Open(ctx, path, p.options()); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s, opened in %.0f ms\n", name, time.Since(p.opened).Seconds()*1e3)
	defer func() { err = errors.Join(err, p.a.Close()) }()
	if err := p.each(ctx); err != nil {
		return err
	}
	return errors.Join(p.together(ctx, "the overview", p.overview), p.together(ctx, "the overview and pairs", p.mix))
}

// options of an archive in which the time is that of the history, and goes on while it is looked at.
func (p *pages) options() archive.Options {
	now := func() time.Time {
		if p.opened.IsZero() {
			return p.end
		}
		return p.end.Add(time.Since(p.opened))
	}
	return archive.Options{Now: now, MoveEvery: 24 * time.Hour}
}

// histories are the pasts of both meshes. Of the large one the last day is told hour by hour, the week before that at
// longer steps and the rest at longer ones still: a month of it at one an hour would be 29 million Results.
func (p *pages) histories() []generated.History {
	before := func(d time.Duration) time.Time { return p.end.Add(-d) }
	few := generated.History{Hosts: generated.Scattered("few", p.Few, 1), Start: before(time.Duration(p.FewDays) * day),
		End: p.end, Seed: 1, Tests: []generated.Test{
			{Tool: generated.Ping, Every: time.Hour},
			{Tool: generated.Throughput, Every: 6 * time.Hour},
			{Tool: generated.Trace, Every: 6 * time.Hour},
		}}
	ping := func(every time.Duration, start, end time.Time) generated.Test {
		return generated.Test{Tool: generated.Ping, Every: every, Start: start, End: end,
			Metrics: []measure.Metric{measure.LossRatio, measure.RTTMedian, measure.RTTP95}}
	}
	many := generated.History{Hosts: generated.Scattered("many", p.Many, 2),
		Start: before(time.Duration(p.ManyDays) * day), End: p.end, Seed: 2, Tests: []generated.Test{
			ping(day, before(time.Duration(p.ManyDays)*day), before(8*day)),
			ping(4*time.Hour, before(8*day), before(day)),
			ping(time.Hour, before(day), p.end),
		}}
	return []generated.History{few, many}
}

// fill makes the archive, as any other Results are filed; it gets its name when it is whole. What would have expired by
// now is not written.
func (p *pages) fill(ctx context.Context, path string) (err error) {
	part := path + ".part"
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), remove(part)); err != nil { // of a run that was broken off
		return fmt.Errorf("make room for %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, remove(part)) }()
	a, err := archive.Open(ctx, part, p.options())
	if err != nil {
		return err
	}
	_, err = a.Prune(ctx, p.end)
	for _, h := range p.histories() {
		if err != nil {
			break
		}
		start, m := time.Now(), startMeter(nil)
		err = h.Fill(ctx, a)
		took, use := time.Since(start).Seconds(), m.stop()
		fmt.Fprintf(p.out, "%.0f days of %d hosts: %d Results of %d values, filed in %.0f s (%.0f s of processors; %s); "+
			"peak memory %d MB\n", h.End.Sub(h.Start).Hours()/24, len(h.Hosts), h.Results(), h.Values(), took,
			use.Own.Seconds(), use.describeOthers(), use.PeakBytes>>20)
	}
	if err := errors.Join(err, a.Close()); err != nil {
		return err
	}
	info, err := os.Stat(part)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%.2f GB on disk\n", float64(info.Size())/1e9)
	return os.Rename(part, path)
}

// remove deletes an archive in SQLite with what stands beside it, if it is there.
func remove(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm", "-lock"} {
		if err := os.Remove(path + suffix); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
