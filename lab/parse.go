package lab

import (
	"path/filepath"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
)

// ParseSpec reads a lab file. Name is used in errors, which are *SpecError with line and column; keys that Pathwise
// does not know are errors. The Spec that comes back is valid. Files that it names (link.Shape.ReadFiles) are found beside
// it.
func ParseSpec(name string, text []byte) (*Spec, error) {
	var spec Spec
	err := notation.Unmarshal(text, &spec)
	if err == nil {
		err = spec.readFiles(filepath.Dir(name))
	}
	if err == nil {
		err = spec.Validate()
	}
	if err == nil {
		err = NewPlan(&spec).check()
	}
	if err != nil {
		return nil, document.InFile(name, notation.Locate(text, err))
	}
	return &spec, nil
}

// readFiles reads the files that links and changes name.
func (s *Spec) readFiles(folder string) error {
	for _, shape := range s.shapes() {
		if shape == nil {
			continue
		}
		if err := shape.ReadFiles(folder); err != nil {
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
