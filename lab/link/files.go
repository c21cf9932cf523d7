package link

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// ReadFiles reads what the shape and its rules name files for: traces of a rate and tables of jitter. Relative names are
// looked for in the folder. What has been read is not read again. Errors are *document.Error that begin with the key.
func (s *Shape) ReadFiles(folder string) error {
	if t := s.Trace; t != nil && t.File != "" && t.Opportunities == nil {
		read, err := readFile(folder, t.File, ReadTrace)
		if err != nil {
			return document.Errorf("trace: %v", err)
		}
		t.Opportunities = read.Opportunities
	}
	if j := s.Jitter; j != nil && j.TableFile != "" && j.Table == nil {
		read, err := readFile(folder, j.TableFile, chance.ReadTable)
		if err != nil {
			return document.Errorf("jitter: table_file: %v", err)
		}
		j.Table = read
	}
	if s.Rules == nil {
		return nil
	}
	for i := range *s.Rules {
		if err := (*s.Rules)[i].ReadFiles(folder); err != nil {
			return document.Errorf("rules: number %d: %v", i+1, err)
		}
	}
	return nil
}

func readFile[V any](folder, name string, read func(io.Reader) (V, error)) (v V, err error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return v, err
	}
	defer f.Close()
	if v, err = read(f); err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// Bare returns s without what files hold that it names: the names are enough for whoever does not emulate it, and a trace may
// have millions of opportunities.
func (s Shape) Bare() Shape {
	if s.Trace != nil && s.Trace.File != "" {
		s.Trace = &Trace{File: s.Trace.File}
	}
	if j := s.Jitter; j != nil && j.TableFile != "" {
		bare := *j
		bare.Table = nil
		s.Jitter = &bare
	}
	if s.Rules != nil {
		rules := slices.Clone(*s.Rules)
		for i := range rules {
			rules[i].Shape = rules[i].Shape.Bare()
		}
		s.Rules = &rules
	}
	return s
}

// Contents are what files held when shapes were read that name them. The zero value has none.
type Contents struct {
	traces map[string][]int64
	tables map[string][]notation.Delay
}

// Note keeps what the files of a shape hold, in place of what they held before.
func (c *Contents) Note(s Shape) {
	if c.traces == nil {
		c.traces, c.tables = map[string][]int64{}, map[string][]notation.Delay{}
	}
	if t := s.Trace; t != nil && t.Opportunities != nil {
		c.traces[t.File] = t.Opportunities
	}
	if j := s.Jitter; j != nil && j.Table != nil {
		c.tables[j.TableFile] = j.Table
	}
	if s.Rules != nil {
		for _, r := range *s.Rules {
			c.Note(r.Shape)
		}
	}
}

// Fill puts into a shape that is bare what its files hold, as far as c knows.
func (c *Contents) Fill(s *Shape) {
	if t := s.Trace; t != nil && t.File != "" {
		t.Opportunities = c.traces[t.File]
	}
	if j := s.Jitter; j != nil && j.TableFile != "" {
		j.Table = c.tables[j.TableFile]
	}
	if s.Rules != nil {
		for i := range *s.Rules {
			c.Fill(&(*s.Rules)[i].Shape)
		}
	}
}
