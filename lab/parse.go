package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// maxSpecBytes bounds a lab file: 60 hosts take 10 kB.
const maxSpecBytes = 1 << 20

// ParseSpec reads a lab file. Name is used in errors, which are *SpecError with line and column; keys that Pathwise
// does not know are errors. The Spec that comes back is valid. Files that it names, such as traces of a rate, are found
// beside it.
func ParseSpec(name string, text []byte) (*Spec, error) {
	if len(text) > maxSpecBytes {
		return nil, &SpecError{File: name, Problem: fmt.Sprintf("%d bytes; want at most %d", len(text), maxSpecBytes)}
	}
	var spec Spec
	err := notation.Unmarshal(text, &spec)
	if err == nil {
		err = spec.readTraces(filepath.Dir(name))
	}
	if err == nil {
		err = spec.Validate()
	}
	if err == nil {
		err = NewPlan(&spec).check()
	}
	if err != nil {
		return nil, inFile(name, notation.Locate(text, err))
	}
	return &spec, nil
}

// inFile gives a fault the name of the file that it is in.
func inFile(name string, err error) error {
	var bad *SpecError
	if !errors.As(err, &bad) {
		return &SpecError{File: name, Problem: err.Error()}
	}
	placed := *bad
	placed.File = name
	return &placed
}

// readTraces reads the files that links take their rates from.
func (s *Spec) readTraces(folder string) error {
	for _, shape := range s.shapes() {
		if shape == nil || shape.Trace == nil || shape.Trace.File == "" {
			continue
		}
		if err := readTrace(folder, shape.Trace); err != nil {
			return err
		}
	}
	return nil
}

// shapes lists every shape in the file, nil ones too.
func (s *Spec) shapes() []*link.Shape {
	var all []*link.Shape
	for i := range s.Links {
		all = append(all, &s.Links[i].Shape, s.Links[i].Forward, s.Links[i].Reverse)
	}
	for i := range s.Timeline {
		all = append(all, &s.Timeline[i].Shape, s.Timeline[i].Forward, s.Timeline[i].Reverse)
	}
	return all
}

func readTrace(folder string, t *link.Trace) error {
	path := t.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return specErrorf("trace: file: %v", err)
	}
	defer f.Close()
	read, err := link.ReadTrace(f)
	if err != nil {
		return specErrorf("trace: %s: %v", t.File, err)
	}
	read.File = t.File
	*t = *read
	return nil
}
