package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

// FuzzParse holds that whatever a file says, it is a mesh that answers every question, or errors that say where.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/folder/*.yaml", "testdata/bad/*.yaml", "psconfig/testdata/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<14 {
			return
		}
		m, err := Parse([]File{{"f", text}}, someKinds{})
		var wrong Errors
		if err != nil {
			if !errors.As(err, &wrong) || len(wrong) == 0 || m != nil {
				t.Fatalf("%v, %v: neither a mesh nor Errors", m, err)
			}
			return
		}
		ask(t, m)
	})
}

// ask asks a mesh everything.
func ask(t *testing.T, m *Mesh) {
	for i := range m.Tests {
		test := &m.Tests[i]
		tool := m.Tool(test.Tool)
		m.Fingerprint(test)
		for s, d := range m.Pairs(test) {
			leg, err := m.Leg(test, tool, s, d)
			if err != nil {
				t.Fatalf("%s: %v", test.Name, err)
			}
			m.Task(tool, leg, 0)
			m.Server(tool, leg, 1)
			m.Allowed(test, s, d, referenceWeek, referenceWeek.Add(1))
		}
	}
	m.Estimate(func(measure.Task) measure.Demand { return measure.Demand{DurationSeconds: 1, Exclusive: true} }, nil)
}
