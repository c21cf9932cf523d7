package link

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// ReadFiles reads what the shape and its rules name files for: traces of a rate and tables of jitter. Relative names are
// looked for in the folder. What has been read is not read again. Errors are *notation.Error that begin with the key.
func (s *Shape) ReadFiles(folder string) error {
	if t := s.Trace; t != nil && t.File != "" && t.Opportunities == nil {
		read, err := readFile(folder, t.File, ReadTrace)
		if err != nil {
			return notation.Errorf("trace: %v", err)
		}
		t.Opportunities = read.Opportunities
	}
	if j := s.Jitter; j != nil && j.TableFile != "" && j.Table == nil {
		read, err := readFile(folder, j.TableFile, chance.ReadTable)
		if err != nil {
			return notation.Errorf("jitter: table_file: %v", err)
		}
		j.Table = read
	}
	if s.Rules == nil {
		return nil
	}
	for i := range *s.Rules {
		if err := (*s.Rules)[i].ReadFiles(folder); err != nil {
			return notation.Errorf("rules: number %d: %v", i+1, err)
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
