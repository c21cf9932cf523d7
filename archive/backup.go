package archive

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/measure"
)

// backupSchema names the layout of a backup: JSON lines, of which each has one of the fields of backupLine. The first
// one has archive, the last one end. It changes when a reader of the old layout would misread the new.
const backupSchema = "pathwise.archive/3"

// What earlier builds wrote, which can be read.
const (
	backupSchema1 = "pathwise.archive/1" // had streams without roles, and Results of both ways between two hosts in one
	backupSchema2 = "pathwise.archive/2" // had no distributions and no subjects
)

// backupLine is one line of a backup. Of the Results a reader needs nothing else; the other lines hold what cannot be
// made from them, because they are pruned, or not as quickly.
type backupLine struct {
	Archive string          `json:"archive,omitempty"` // backupSchema
	Taken   *time.Time      `json:"taken,omitempty"`
	State   *backupState    `json:"state,omitempty"`
	Metric  *backupMetric   `json:"metric,omitempty"`
	Stream  *backupStream   `json:"stream,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Filed   *backupFiled    `json:"filed,omitempty"`
	Miss    *measure.Miss   `json:"miss,omitempty"`
	Journal *backupJournal  `json:"journal,omitempty"`
	Points  *backupPoints   `json:"points,omitempty"`
	Rollup  *backupRollup   `json:"rollup,omitempty"`
	End     int64           `json:"end,omitempty"` // how many lines came before
}

type backupState struct {
	Moved  int64 `json:"moved"`
	Upto   int64 `json:"upto"`
	Pruned int64 `json:"pruned"`
}

type backupMetric struct {
	ID   metricID `json:"id"`
	Name string   `json:"name"`
}

type backupStream struct {
	ID      streamID     `json:"id"`
	Source  string       `json:"source"`
	Target  string       `json:"target"`
	Test    string       `json:"test"`
	Tool    string       `json:"tool"`
	Kind    string       `json:"kind"`
	Role    measure.Role `json:"role"`
	Subject string       `json:"subject,omitempty"`
	Latest  []byte       `json:"latest"`
}

// backupFiled is the ID of a Result that is not kept any more, but must not be filed again.
type backupFiled struct {
	ID     string   `json:"id"`
	Time   int64    `json:"time"`
	Stream streamID `json:"stream"`
	Status byte     `json:"status"`
}

type backupJournal struct {
	Generation int64  `json:"generation"`
	Data       []byte `json:"data"`
}

type backupPoints struct {
	Slot       int64    `json:"slot"`
	Stream     streamID `json:"stream"`
	Generation int64    `json:"generation"`
	Data       []byte   `json:"data"`
}

type backupRollup struct {
	Level  int    `json:"level"`
	Start  int64  `json:"start"`
	Series int64  `json:"series"` // stream<<16 | metric, which is 0 where the row holds all of them
	Data   []byte `json:"data"`
}

// Backup implements Archive.
func (k *keeper) Backup(ctx context.Context, path string) error {
	if err := k.enter(); err != nil {
		return err
	}
	defer k.leave()
	err := k.store.view(ctx, func(t *tx) error {
		return durable.Replace(path, func(w io.Writer) error { return k.backupTo(ctx, t, w) })
	})
	if err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

func (k *keeper) backupTo(ctx context.Context, t *tx, w io.Writer) error {
	compressed, err := zstd.NewWriter(w)
	if err != nil {
		return err
	}
	b := &backupWriter{k: k, t: t, lines: json.NewEncoder(compressed)}
	for _, part := range []func(context.Context) error{b.head, b.names, b.results, b.filed, b.misses, b.journal,
		b.points, b.rollups, b.end} {
		if err := part(ctx); err != nil {
			return errors.Join(err, compressed.Close())
		}
	}
	return compressed.Close()
}

// backupWriter writes what one transaction sees.
type backupWriter struct {
	k     *keeper
	t     *tx
	lines *json.Encoder
	n     int64
}

func (b *backupWriter) line(l backupLine) error {
	b.n++
	return b.lines.Encode(l)
}

func (b *backupWriter) head(ctx context.Context) error {
	now := b.k.options.Now().UTC()
	if err := b.line(backupLine{Archive: backupSchema, Taken: &now}); err != nil {
		return err
	}
	state, err := readState(ctx, b.t)
	if err != nil {
		return err
	}
	return b.line(backupLine{State: &backupState{state["moved"], state["upto"], state["pruned"]}})
}

func (b *backupWriter) names(ctx context.Context) error {
	var m backupMetric
	err := b.t.each(ctx, "SELECT id, name FROM metric ORDER BY id", nil, []any{&m.ID, &m.Name}, func() error {
		return b.line(backupLine{Metric: &m})
	})
	if err != nil {
		return err
	}
	var s backupStream
	return b.t.each(ctx, "SELECT id, source, target, test, tool, kind, role, subject, latest FROM stream ORDER BY id", nil,
		[]any{&s.ID, &s.Source, &s.Target, &s.Test, &s.Tool, &s.Kind, &s.Role, &s.Subject, &s.Latest},
		func() error { return b.line(backupLine{Stream: &s}) })
}

func (b *backupWriter) results(ctx context.Context) error {
	var id int64
	var data sql.RawBytes
	return b.t.each(ctx, "SELECT id, data FROM block", nil, []any{&id, &data}, func() error {
		lines, err := b.k.packer.unpack(data)
		if err != nil {
			return fmt.Errorf("block %d: %w", id, err)
		}
		for _, l := range lines {
			if err := b.line(backupLine{Result: l}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *backupWriter) filed(ctx context.Context) error {
	var id []byte
	var f backupFiled
	return b.t.each(ctx, "SELECT id, time, stream, status FROM result WHERE block NOT IN (SELECT id FROM block)", nil,
		[]any{&id, &f.Time, &f.Stream, &f.Status}, func() error {
			f.ID = ulid.ULID(id).String()
			return b.line(backupLine{Filed: &f})
		})
}

func (b *backupWriter) misses(ctx context.Context) error {
	return eachMiss(ctx, b.t, selector{}, 0, latestTime.UnixNano(),
		func(m measure.Miss) error { return b.line(backupLine{Miss: &m}) })
}

func (b *backupWriter) journal(ctx context.Context) error {
	var j backupJournal
	return b.t.each(ctx, "SELECT generation, data FROM journal ORDER BY id", nil, []any{&j.Generation, &j.Data},
		func() error {
			return b.line(backupLine{Journal: &j})
		})
}

func (b *backupWriter) points(ctx context.Context) error {
	var p backupPoints
	return b.t.each(ctx, "SELECT slot, stream, generation, data FROM points", nil, []any{&p.Slot, &p.Stream,
		&p.Generation, &p.Data}, func() error {
		return b.line(backupLine{Points: &p})
	})
}

func (b *backupWriter) rollups(ctx context.Context) error {
	var r backupRollup
	var series seriesID
	return b.t.each(ctx, "SELECT level, start, series, data FROM rollup", nil, []any{&r.Level, &r.Start, &series,
		&r.Data}, func() error {
		id, m := series.split()
		r.Series = int64(id)<<16 | int64(m)
		return b.line(backupLine{Rollup: &r})
	})
}

func (b *backupWriter) end(context.Context) error { return b.lines.Encode(backupLine{End: b.n}) }
