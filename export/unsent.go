package export

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pathwise-net/pathwise/durable"
)

// What is unsent stands in a small file in which a RemoteWriter remembers, across restarts and power cuts, of which times the
// archive has Results that it has not sent: one span a line, from and to as RFC 3339.
//
//	2026-11-21T10:00:00Z 2026-11-21T10:00:20Z

// readUnsent returns what the file says; nothing if there is none yet.
func readUnsent(path string) (spans, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what remote write has not sent: %w", err)
	}
	all, err := parseUnsent(content)
	if err != nil {
		return nil, fmt.Errorf("read what remote write has not sent %s: %w", path, err)
	}
	return all, nil
}

// parseUnsent reads the file's lines. A span that begins or ends within a slot is widened to whole ones.
func parseUnsent(content []byte) (spans, error) {
	var all spans
	lines := bufio.NewScanner(bytes.NewReader(content))
	for n := 1; lines.Scan(); n++ {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) == 0 {
			continue
		}
		var ends [2]time.Time
		for i := range ends {
			var err error
			if len(fields) != len(ends) {
				err = errors.New("other than two words")
			} else {
				ends[i], err = time.Parse(time.RFC3339, string(fields[i]))
			}
			if err != nil {
				return nil, fmt.Errorf("line %d is %q, want two times such as 2026-11-21T10:00:00Z: %w", n, lines.Text(), err)
			}
		}
		all = all.add(spanOf(ends[0], ends[1]))
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return all, nil
}

// spanOf is the slots in which [from, to) has a part.
func spanOf(from, to time.Time) span {
	if !from.Before(to) {
		return span{}
	}
	return span{slotOf(from), slotOf(to.Add(-1)) + 1}
}

// writeUnsent replaces the file by one that says all: on disk, under its name, when it returns.
func writeUnsent(path string, all spans) error {
	var content bytes.Buffer
	for _, s := range all {
		fmt.Fprintf(&content, "%s %s\n", s.from.start().Format(time.RFC3339), s.to.start().Format(time.RFC3339))
	}
	if err := durable.Write(path, content.Bytes()); err != nil {
		return fmt.Errorf("write what remote write has not sent: %w", err)
	}
	return nil
}
