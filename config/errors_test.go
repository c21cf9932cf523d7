package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryErrorInOneGo holds the errors of each bad file against a golden list.
func TestEveryErrorInOneGo(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no bad files", err)
	}
	var all strings.Builder
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Parse([]File{{filepath.Base(path), text}}, someKinds{})
		var wrong Errors
		if m != nil || !errors.As(err, &wrong) || !wrong.BadInput() {
			t.Fatalf("%s: got %v, %v; want Errors", path, m, err)
		}
		for _, e := range wrong {
			if e.Want == "" || !e.BadInput() || strings.Contains(e.Error(), "secret") {
				t.Errorf("%s: %v", path, e)
			}
		}
		all.WriteString(err.Error() + "\n")
	}
	golden(t, "bad/errors.golden", all.String())
}

func TestANameDefinedInTwoFiles(t *testing.T) {
	files := []File{
		{"a.yaml", []byte("hosts: {a: 10.0.0.1, b: 10.0.0.2}\ntools: {rtt: {probe: ping}}\ncontroller: {data: x}\ntests: []\n")},
		{"b.yaml", []byte("hosts:\n  a: 10.0.0.3\ntools: {rtt: {probe: trace}}\ngroups: {g: {mesh: [a, b]}}\ncontroller: {data: y}\n")},
		{"c.yaml", []byte("tests: [{tool: rtt, group: g, schedule: {every: 1m}}]\n")},
		{"d.yaml", []byte("\ntests: [{tool: rtt, group: g, schedule: {every: 2m}}]\nschedules:\nexclude:\n")},
	}
	_, err := Parse(files, nil)
	want := `b.yaml:2:3: hosts.a: want each name once; it is defined at a.yaml:1:9 as well
b.yaml:3:9: tools.rtt: want each name once; it is defined at a.yaml:1:2 as well
b.yaml:5:13: controller: want each name once; it is defined at a.yaml:3:13 as well
d.yaml:2:9: tests[0]: "rtt@g": want a name of its own for each test; c.yaml:1:9 has this one`
	want = strings.Replace(want, "a.yaml:1:2 as", "a.yaml:2:9 as", 1)
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v, want os.ErrNotExist", err)
	}
	folder := filepath.Join(t.TempDir(), "odd [name]*")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var wrong Errors
	if _, err := Load(folder, nil); !errors.As(err, &wrong) || wrong[0].File != folder {
		t.Errorf("an empty folder: %v, want Errors that name it", err)
	}
	for name, text := range map[string]string{"b.yml": "hosts: {b: 10.0.0.2}", "a.yaml": "hosts: {a: 10.0.0.1}", ".c.yaml": "x: y", "d.txt": "x"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Load(folder, nil)
	if err != nil || len(m.Hosts) != 2 || m.Hosts[0].Name != "a" {
		t.Errorf("a folder: %v, %v; want hosts a and b", m, err)
	}
	large := File{"large.yaml", make([]byte, maxBytes+1)}
	if _, err := Parse([]File{large}, nil); !errors.As(err, &wrong) || wrong[0].File != large.Name {
		t.Errorf("a large file: %v, want Errors that name it", err)
	}
}
