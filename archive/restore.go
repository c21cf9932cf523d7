package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// longestLine is what is read of one line of a backup: a Result with all that a program printed is below it.
const longestLine = 64 << 20

// linesTogether is how many lines are restored in one transaction.
const linesTogether = 10_000

var errBackup = errors.New("not a backup of an archive, or a damaged one")

// Restore implements Archive.
func (k *keeper) Restore(ctx context.Context, path string) error {
	if err := k.enter(); err != nil {
		return err
	}
	defer k.leave()
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	defer file.Close()
	if err := k.restore(ctx, file); err != nil {
		return fmt.Errorf("restore %s: %w", path, err)
	}
	return nil
}

func (k *keeper) restore(ctx context.Context, file io.Reader) error {
	r, err := newBackupReader(file)
	if err != nil {
		return err
	}
	defer r.close()
	if err := k.do(ctx, k.beginRestore); err != nil {
		return err
	}
	for more := true; more; {
		s := &restoring{k: k, before: r.schema == backupSchema1}
		if more, err = s.read(r); err != nil {
			return err
		}
		if err := k.do(ctx, s.write); err != nil {
			return err
		}
	}
	if err := k.do(ctx, func(ctx context.Context) error {
		if err := k.store.change(ctx, func(t *tx) error {
			return setState(ctx, t, map[string]int64{"restoring": 0, "refile": oneIf(r.schema == backupSchema1)})
		}); err != nil {
			return err
		}
		k.restoring = false
		return k.load(ctx)
	}); err != nil {
		return err
	}
	return k.refile(ctx, k.do)
}

// beginRestore checks that the archive is empty, and notes that from now on it is half restored.
func (k *keeper) beginRestore(ctx context.Context) error {
	if len(k.names.byKey) > 0 || len(k.names.metrics) > 0 || k.misses > 0 || k.lastBlock > 0 {
		return ErrNotEmpty
	}
	k.restoring = true
	return k.store.change(ctx, func(t *tx) error { return setState(ctx, t, map[string]int64{"restoring": 1}) })
}

// backupReader reads lines, and checks that they begin and end as they should.
type backupReader struct {
	expanded *zstd.Decoder
	lines    *bufio.Scanner
	schema   string
	n        int64
}

func newBackupReader(file io.Reader) (*backupReader, error) {
	expanded, err := zstd.NewReader(file, zstd.WithDecoderMaxMemory(longestLine), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	r := &backupReader{expanded: expanded, lines: newLines(expanded)}
	head, err := r.next()
	r.schema = head.Archive
	if err == nil && !slices.Contains([]string{backupSchema, backupSchema2, backupSchema1}, r.schema) {
		err = fmt.Errorf("%w: it begins with %q, want %q", errBackup, head.Archive, backupSchema)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func newLines(from io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, longestLine)
	return lines
}

func (r *backupReader) close() { r.expanded.Close() }

func (r *backupReader) next() (l backupLine, err error) {
	if !r.lines.Scan() {
		return l, fmt.Errorf("%w: it ends after line %d: %w", errBackup, r.n, errors.Join(r.lines.Err(), io.ErrUnexpectedEOF))
	}
	if err := json.Unmarshal(r.lines.Bytes(), &l); err != nil {
		return l, fmt.Errorf("%w: line %d: %w", errBackup, r.n+1, err)
	}
	r.n++
	return l, nil
}
