package edit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/input"
)

var names = map[string]bool{
	"mesh.yaml": true, "10-hosts.yml": true, "Zürich hosts.yaml": true, "a.b.yaml": true,
	"": false, ".yaml": false, ".mesh.yaml": false, "mesh": false, "mesh.yaml.new": false, "mesh.YAML": false,
	"../mesh.yaml": false, "/etc/mesh.yaml": false, "a/mesh.yaml": false, `a\mesh.yaml`: false, "..": false, "a\x00.yaml": false,
	"a\n.yaml": false, "a\xff.yaml": false, " a.yaml": false, strings.Repeat("a", 96) + ".yaml": false,
}

func TestNames(t *testing.T) {
	d := newDesk(t, File{"a.yaml", hostsText}, File{"b.yml", testsText})
	for name, right := range names {
		o, err := d.Check(t.Context(), []File{{name, hostsText}}, false)
		if right != (err == nil) || right == input.Bad(err) {
			t.Errorf("%q: %+v, %v", name, o, err)
		}
		if _, err := d.save(d.current().Version, File{name, hostsText}, File{"c.yaml", testsText}); right != (err == nil) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A name that is taken is that of a file in the folder, which is read as a mesh file.
func FuzzName(f *testing.F) {
	for name := range names {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		err := checkName(name)
		if err != nil {
			if bad, ok := err.(interface{ BadInput() bool }); !ok || !bad.BadInput() || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q: %v", name, err)
			}
			return
		}
		folder := t.TempDir()
		if filepath.Dir(filepath.Join(folder, name)) != folder || filepath.Base(name) != name {
			t.Fatalf("%q is not in the folder", name)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(hostsText), 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := config.Load(folder, nil); err != nil || len(m.Hosts) != 2 {
			t.Fatalf("%q is not read as a mesh file: %v", name, err)
		}
	})
}

// Too much is refused, whether somebody sends it or it is there; what is there stays.
func TestBounds(t *testing.T) {
	many := make([]File, MaxFiles+1)
	for i := range many {
		many[i] = File{strings.Repeat("a", i+1) + ".yaml", "# x\n"}
	}
	large := strings.Repeat("# x\n", MaxFile/4)
	for what, files := range map[string][]File{
		"one too many": many, "a large one": {{"a.yaml", large + "#"}}, "too much in all": {{"a.yaml", large}, {"b.yaml", large}, {"c.yaml", large},
			{"d.yaml", large}, {"e.yaml", "# x\n"}}, "none": {}, "one twice": {{"a.yaml", ""}, {"a.yaml", ""}}, "no text": {{"a.yaml", "\xff"}},
	} {
		d := newDesk(t, File{"a.yaml", hostsText}, File{"b.yml", testsText})
		if _, err := d.Check(t.Context(), files, false); !input.Bad(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := d.save(d.current().Version, files...); !input.Bad(err) {
			t.Errorf("%s: %v", what, err)
		}
		if what == "none" || what == "one twice" {
			continue
		}
		for _, f := range files {
			must(t, os.WriteFile(filepath.Join(d.mesh, f.Name), []byte(f.Text), 0o600))
		}
		if _, err := d.Read(); !input.Bad(err) {
			t.Errorf("%s, on disk: %v", what, err)
		}
	}
	one := newDesk(t, File{"mesh.conf", hostsText})
	if _, err := one.Check(t.Context(), []File{{"other.yaml", hostsText}}, false); !input.Bad(err) {
		t.Errorf("another name than the one file's: %v", err)
	}
	_, err := one.save(one.current().Version, File{"mesh.conf", hostsText + "# x\n"})
	must(t, err)
	must(t, os.Remove(one.mesh)) // somebody did; it can be brought back
	past, err := one.Version(one.History()[0].ID)
	must(t, err)
	_, err = one.save(one.current().Version, past.Files...)
	must(t, err)
	expect(t, "brought back", one.current().Files, past.Files)
}

// A file that is a link is replaced where it leads.
func TestLinks(t *testing.T) {
	d := newDesk(t, File{"a.yaml", hostsText}, File{"b.yml", testsText})
	real := filepath.Join(t.TempDir(), "real")
	must(t, os.Rename(filepath.Join(d.mesh, "b.yml"), real))
	must(t, os.Symlink(real, filepath.Join(d.mesh, "b.yml")))
	_, err := d.save(d.current().Version, File{"a.yaml", hostsText}, File{"b.yml", bulkText})
	must(t, err)
	text, err := os.ReadFile(real)
	must(t, err)
	expect(t, "where the link leads", string(text), bulkText)
}
