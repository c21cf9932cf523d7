package chart

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is drawn to testdata")

var midnight = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return midnight.Add(time.Duration(seconds) * time.Second) }

func alone(tool string, from, until int, target bool) Block {
	return Block{Start: at(from), End: at(until), Tool: tool, Exclusive: true, Target: target}
}

func dot(tool string, from int) Block { return Block{Start: at(from), End: at(from + 5), Tool: tool} }

// three hosts, of which two at a time run something alone.
func three() []Lane {
	return []Lane{
		{"ucl", []Block{alone("bulk", 0, 60, false), alone("transact", 120, 130, true), alone("bulk", 200, 260, true),
			dot("rtt", 90), dot("rtt", 150)}},
		{"ral", []Block{alone("bulk", 0, 60, true), alone("bulk", 280, 340, false), dot("rtt", 100), dot("rtt", 101)}},
		{"cern", []Block{alone("transact", 120, 130, false), alone("bulk", 200, 260, false),
			alone("bulk", 280, 340, true), dot("route", 10)}},
	}
}

func TestLanes(t *testing.T) {
	paris := time.FixedZone("CET", 3600)
	for _, c := range []struct {
		name   string
		lanes  []Lane
		window Window
	}{
		{"three", three(), Window{From: at(0), Until: at(360), Width: 80}},
		{"ascii", three(), Window{From: at(0), Until: at(360), Width: 80, ASCII: true}},
		{"part", three(), Window{From: at(30), Until: at(230), Width: 60}},
		{"coarse", three(), Window{From: at(0), Until: at(24 * 3600), Width: 60}},
		{"elsewhere", three(), Window{From: at(0), Until: at(3 * 3600), Width: 60, Location: paris}},
		{"narrow", three(), Window{From: at(0), Until: at(360), Width: 10}},
		{"week", three(), Window{From: at(0), Until: at(7 * 24 * 3600), Width: 100}},
		{"names", []Lane{{"a-very-long-name-of-a-host", []Block{alone("bulk", 0, 10, false)}},
			{"zürich", []Block{alone("bbcp", 0, 10, false), alone("9p", 10, 20, false)}}},
			Window{From: at(0), Until: at(60), Width: 60}},
		{"plain-names", []Lane{{"zürich", []Block{dot("rtt", 0)}}},
			Window{From: at(0), Until: at(60), Width: 60, ASCII: true}},
		{"nothing", nil, Window{From: at(0), Until: at(3600), Width: 60}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			if err := Lanes(&got, c.lanes, c.window); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(got.String()) {
				legend := strings.Contains(line, "alone (")
				width := utf8.RuneCountInString(strings.TrimRight(line, "\n"))
				if width > max(c.window.Width, MinWidth) && !legend {
					t.Errorf("a line is %d wide: %s", width, line)
				}
				if c.window.ASCII && len(line) != utf8.RuneCountInString(line) {
					t.Errorf("not ASCII: %s", line)
				}
			}
			file := filepath.Join("testdata", c.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestLanesErrors(t *testing.T) {
	if err := Lanes(&strings.Builder{}, three(), Window{From: at(10), Until: at(10), Width: 80}); err == nil {
		t.Error("a window without time is drawn")
	}
	if err := Lanes(full{}, three(), Window{From: at(0), Until: at(10), Width: 80}); !errors.Is(err, errFull) {
		t.Errorf("error of the writer: %v", err)
	}
}
