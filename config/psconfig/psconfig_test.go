package psconfig

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/config"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden holds a text to a file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// parsed reads a mesh file that has no faults.
func parsed(t *testing.T, mesh []byte) *config.Mesh {
	t.Helper()
	m, err := config.Parse([]config.File{{Name: "mesh.yaml", Text: mesh}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestImport(t *testing.T) {
	text, err := os.ReadFile("testdata/testbed.json")
	if err != nil {
		t.Fatal(err)
	}
	mesh, notes, err := Import(text)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/testbed.yaml", string(mesh))
	golden(t, "testdata/testbed.notes", noteLines(notes))
}

func noteLines(notes []Note) string {
	var b strings.Builder
	for _, n := range notes {
		b.WriteString(n.String() + "\n")
	}
	return b.String()
}

// The family of a specification reaches the test and its tasks, whether hosts are known by address or by name.
func TestFamily(t *testing.T) {
	for addresses, possible := range map[[2]string]string{
		{"192.0.2.1", "192.0.2.2"}: "ipv4", {"2001:db8::1", "2001:db8::2"}: "ipv6", {"192.0.2.1", "b.example.org"}: "ipv4",
		{"a.example.org", "b.example.org"}: "ipv4 ipv6",
	} {
		for _, kind := range []string{"throughput", "rtt", "trace", "latency", "latencybg"} {
			for version, want := range map[string]string{`, "ip-version": 4`: "ipv4", `, "ip-version": 6`: "ipv6", "": ""} {
				mesh, notes, err := Import(fmt.Appendf(nil, `{
	"addresses": {"a": {"address": %q}, "b": {"address": %q}},
	"groups": {"all": {"type": "mesh", "addresses": [{"name": "a"}, {"name": "b"}]}},
	"tests": {"t": {"type": %q, "spec": {"source": "{%% address[0] %%}", "dest": "{%% address[1] %%}"%s}}},
	"schedules": {"often": {"repeat": "PT1H"}},
	"tasks": {"k": {"group": "all", "test": "t", "schedule": "often"}}}`, addresses[0], addresses[1], kind, version))
				if err != nil {
					t.Fatal(err)
				}
				if !strings.Contains(possible, want) {
					if !strings.Contains(noteLines(notes), "family") {
						t.Errorf("%v %s %s: notes say nothing: %s", addresses, kind, want, noteLines(notes))
					}
					continue
				}
				m := parsed(t, mesh)
				leg, err := m.Leg(m.Test("k"), m.Tool("t"), 0, 1)
				if err != nil {
					t.Fatal(err)
				}
				test := m.Test("k")
				if have := map[int]string{4: "ipv4", 6: "ipv6"}[test.Family]; have != want {
					t.Errorf("%v %s: the test's family is %q, want %q", addresses, kind, have, want)
				}
				if got := m.Task(m.Tool("t"), leg, 0).Parameters["family"]; addresses[1] == "b.example.org" && want != "" && got != want {
					t.Errorf("%v %s: the task's family is %v, want %q", addresses, kind, got, want)
				}
			}
		}
	}
}

// TestImportLoads holds that an ordinary template needs no mending, and that its tests are those of the template.
func TestImportLoads(t *testing.T) {
	mesh, notes, err := Import([]byte(`{
	"addresses": {"a": {"address": "192.0.2.1"}, "b": {"address": "192.0.2.2"}, "c": {"address": "192.0.2.3", "disabled": true}},
	"groups": {"all": {"type": "mesh", "addresses": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}},
	"tests": {"tcp": {"type": "throughput", "spec": {"source": "{% address[0] %}", "dest": "{% address[1] %}", "duration": "PT1M30S", "ip-version": 4}}},
	"schedules": {"often": {"repeat": "P1DT6H"}},
	"tasks": {"bw": {"group": "all", "test": "tcp", "schedule": "often"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := noteLines(notes), "addresses.c.disabled: the mesh file switches whole hosts off: c is off if all its addresses are\n"; got != want {
		t.Errorf("notes: %s; want %s", got, want)
	}
	m := parsed(t, mesh)
	var pairs []string
	for s, d := range m.Pairs(m.Test("bw")) {
		pairs = append(pairs, m.Hosts[s].Name+">"+m.Hosts[d].Name)
	}
	if got, want := strings.Join(pairs, " "), "a>b b>a"; got != want {
		t.Errorf("pairs: %s; want %s", got, want)
	}
	test := m.Test("bw")
	if got, want := test.Schedule.Every.String(), "30h0m0s"; got != want || test.Family != 4 {
		t.Errorf("every %s, family %d; want %s, 4", got, test.Family, want)
	}
	if got, want := m.Tool("tcp").Parameters["duration"], "90s"; got != want {
		t.Errorf("duration %v, want %v", got, want)
	}
}

// What is left behind is told, with where it stood, also as comments that no name of a template can break out of.
func TestNotesAreComments(t *testing.T) {
	mesh, notes, err := Import([]byte(`{
	"addresses": {"a": {"address": "192.0.2.1", "tags": ["ours", "", 7], "labels": {"inside": {"address": "no address"}}}, "b": {"address": "192.0.2.2"}},
	"groups": {"all": {"type": "mesh", "addresses": [{"name": "a"}, {"name": "b"}]}},
	"evil\n# x\u2028hosts: {c: 192.0.2.3}": {}, "tests": {}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Note{
		{"addresses.a.tags[2]", "is no text: not carried over"},
		{"addresses.a.tags", `"" is no label of a mesh file: not carried over`},
		{"addresses.a.labels.inside.address", `"no address" is no address: not carried over`},
		{"evil\n# x\u2028hosts: {c: 192.0.2.3}", "not carried over"},
	}
	if diff := cmp.Diff(want, notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	text := `# What a pSConfig template had that is not in this mesh file, or is something else here:
# - addresses.a.tags[2]: is no text: not carried over
# - addresses.a.tags: "" is no label of a mesh file: not carried over
# - addresses.a.labels.inside.address: "no address" is no address: not carried over
# - evil\n# x\u2028hosts: {c: 192.0.2.3}: not carried over
hosts:
  a: {address: 192.0.2.1, labels: [ours]}
  b: {address: 192.0.2.2}
groups:
  all: {mesh: [a, b]}
`
	if diff := cmp.Diff(text, string(mesh)); diff != "" {
		t.Errorf("mesh file (-want +got):\n%s", diff)
	}
	if m := parsed(t, mesh); len(m.Hosts) != 2 {
		t.Errorf("%d hosts", len(m.Hosts))
	}
}

// A fault is told with the line where it stands, however many comments go before; of many notes the first stand there.
func TestFaultsBelowComments(t *testing.T) {
	for _, ignored := range []int{0, 5, mostComments - 1, mostComments, 3 * mostComments} {
		more := ""
		for n := range ignored {
			more += fmt.Sprintf(`, "ignored-%d": 1`, n)
		}
		mesh, notes, err := Import(fmt.Appendf(nil, `{
	"addresses": {"a": {"address": "192.0.2.1"}, "b": {"address": "192.0.2.2"}},
	"groups": {"all": {"type": "mesh", "addresses": [{"name": "a"}, {"name": "b"}]}},
	"tests": {"t": {"type": "rtt", "spec": {"source": "{%% address[0] %%}", "dest": "{%% address[1] %%}", "ip-version": 6}}},
	"schedules": {"often": {"repeat": "PT1H"}},
	"tasks": {"k": {"group": "all", "test": "t", "schedule": "often"}}%s}`, more))
		if err != nil {
			t.Fatal(err)
		}
		said := noteLines(notes)
		_, err = config.Parse([]config.File{{Text: mesh}}, nil)
		var wrong config.Errors
		if !errors.As(err, &wrong) {
			t.Fatalf("error %v", err)
		}
		for _, e := range wrong {
			if !strings.Contains(said, e.Error()) {
				t.Errorf("behind %d notes: %v is in no note of\n%s", ignored, e, said)
			}
		}
		lines := strings.Count(string(mesh), "#")
		if want := min(ignored+len(wrong), mostComments+1) + 1; lines != want {
			t.Errorf("%d comments of %d notes, want %d", lines, len(notes), want)
		}
	}
}

func TestNoTemplate(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", "{\"a\": 1}", "hosts: {}", strings.Repeat(" ", MaxBytes+1)} {
		if mesh, _, err := Import([]byte(text)); err == nil {
			t.Errorf("%.20q: got %s, want an error", text, mesh)
		}
	}
}

func TestISODurations(t *testing.T) {
	for text, want := range map[string]string{
		"PT20S": "20s", "PT4H": "4h", "P1D": "1d", "P1W": "7d", "PT1M30S": "90s", "PT0.5S": "500ms", "P1DT1H": "25h", "PT90M": "90m",
	} {
		if d, ok := parseISO(text); !ok || shortTime(d) != want {
			t.Errorf("%s: got %s, %v; want %s", text, shortTime(d), ok, want)
		}
	}
	for _, text := range []string{"", "P", "PT", "PT0S", "P1M", "P1Y", "20S", "PT1.2.3S", "PT-1S", "P99999999W", "pt1s"} {
		if d, ok := parseISO(text); ok {
			t.Errorf("%q: got %v, want none", text, d)
		}
	}
}

func FuzzImport(f *testing.F) {
	text, err := os.ReadFile("testdata/testbed.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"addresses": {"a": {"address": "192.0.2.1"}}, "groups": {"g": {"type": "list", "addresses": [{"name": "a"}]}}, "tasks": {}}`))
	f.Add([]byte(`{"addresses": {"": {"address": 1}, "\u0000": {}}, "groups": [], "tests": {"x": {"type": "bg"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		mesh, notes, err := Import(text)
		if err != nil {
			return
		}
		var wrong config.Errors
		_, err = config.Parse([]config.File{{Text: mesh}}, nil)
		if errors.As(err, &wrong) {
			said := noteLines(notes)
			for _, e := range wrong {
				if !strings.Contains(said, e.Error()) {
					t.Errorf("%v is in no note of\n%s", e, mesh)
				}
				if strings.Contains(e.Error(), "YAML") {
					t.Errorf("the mesh file is no YAML: %v\n%s", e, mesh)
				}
			}
		}
	})
}
