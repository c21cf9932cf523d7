package edit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/probe"
)

// killed is what a save panics with that was killed.
type killed struct{}

// saveKilled saves, and is killed after a number of writes to disk.
func (d *desk) saveKilled(after int, files ...File) {
	d.t.Helper()
	d.options.replace = func(path string, text []byte) error {
		if after--; after < 0 {
			panic(killed{})
		}
		return durable.Rewrite(path, text)
	}
	defer func() {
		if p := recover(); p != (killed{}) {
			panic(p)
		}
	}()
	_, err := d.save(d.current().Version, files...)
	d.t.Errorf("it was not killed: %v", err)
}

// A save that is killed between two files is finished by the next start; one that is killed before the first is as if it had
// not been begun. The history says which.
func TestKilledBetweenFiles(t *testing.T) {
	old := []File{{"a.yaml", hostsText}, {"b.yml", testsText}}
	next := []File{{"a.yaml", hostsText + "# next\n"}, {"b.yml", bulkText}}
	for after, saved := range []bool{false, true, true} { // the journal, a.yaml, b.yml
		t.Run(fmt.Sprint(after), func(t *testing.T) {
			d := newDesk(t, old...)
			d.saveKilled(after, next...)
			if after == 2 { // the kill came between the last file and the note of it
				must(t, os.WriteFile(filepath.Join(d.mesh, "b.yml"), []byte(bulkText), 0o600))
			}
			d.open()
			must(t, d.load())
			if saved {
				expect(t, "files", d.current().Files, next)
				expect(t, "history", d.comments(), []string{"anna: why", first})
			} else {
				expect(t, "files", d.current().Files, old)
				expect(t, "history", d.comments(), []string{first})
			}
			for _, pattern := range []string{filepath.Join(d.mesh, ".*"), filepath.Join(d.data, "history", "*"+draftSuffix)} {
				if left, _ := filepath.Glob(pattern); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			}
		})
	}
}

// What somebody changed after the kill stays theirs, and nobody's journal leads out of the folder.
func TestJournal(t *testing.T) {
	d := newDesk(t, File{"a.yaml", hostsText}, File{"b.yml", testsText})
	d.saveKilled(2, File{"a.yaml", hostsText + "# next\n"}, File{"b.yml", bulkText})
	theirs := testsText + "# theirs\n"
	must(t, os.WriteFile(filepath.Join(d.mesh, "b.yml"), []byte(theirs), 0o600))
	d.open()
	expect(t, "files", d.current().Files, []File{{"a.yaml", hostsText + "# next\n"}, {"b.yml", theirs}})

	journal, outside := filepath.Join(d.mesh, journalName), filepath.Join(filepath.Dir(d.mesh), "outside.yaml")
	text := "x"
	for want, content := range map[string]any{"damaged": "[", "without a folder": []step{{"../outside.yaml", nil, &text}}} {
		raw, ok := content.(string)
		if !ok {
			j, err := json.Marshal(content)
			must(t, err)
			raw = string(j)
		}
		must(t, os.WriteFile(journal, []byte(raw), 0o600))
		if err := Recover(d.mesh); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a journal wrote outside of the folder")
	}
}

// A mesh that was read while its files were being replaced is not put in force; the one that is read then is.
func TestReadInBetween(t *testing.T) {
	d := newDesk(t, File{"a.yaml", hostsText}, File{"b.yml", testsText})
	_, err := d.save(d.current().Version, File{"a.yaml", hostsText + "# next\n"}, File{"b.yml", bulkText + "exclude: [{tool: bulk, target: b}]\n"})
	must(t, err)
	half, err := config.Parse([]config.File{{Name: "a", Text: []byte(hostsText + testsText)}}, probe.Catalogue{})
	must(t, err)
	if err := d.Follow(half, nil); err == nil {
		t.Error("half of a version is in force")
	}
	must(t, d.load())
	expect(t, "in force", d.current().InForce, d.current().Version)
}

// A damaged file costs its version and nothing else; so does one whose text is not what was saved.
func TestDamagedHistory(t *testing.T) {
	d := newDesk(t, File{"mesh.yaml", hostsText + testsText})
	for i := range 3 {
		_, err := d.save(d.current().Version, File{"mesh.yaml", fmt.Sprintf("%s%s# %d\n", hostsText, testsText, i)})
		must(t, err)
	}
	all := d.History()
	path := func(i int) string { return filepath.Join(d.data, "history", all[i].ID+keptSuffix) }
	must(t, os.WriteFile(path(3), []byte("no longer"), 0o600))
	other, err := os.ReadFile(path(0))
	must(t, err)
	must(t, os.WriteFile(path(2), other, 0o600))
	whole, err := os.ReadFile(path(1))
	must(t, err)
	must(t, os.WriteFile(path(1), whole[:len(whole)-12], 0o600))
	must(t, os.WriteFile(filepath.Join(d.data, "history", "notes.txt"), []byte("x"), 0o600))
	d.open()
	expect(t, "versions", d.History(), all[:2])
	if _, err := d.Version(all[1].ID); err == nil || !strings.Contains(err.Error(), "damaged") || strings.Contains(err.Error(), d.data) {
		t.Errorf("a version that was cut short: %v", err)
	}
	newest, err := d.Version(all[0].ID)
	must(t, err)
	if newest.Diff != "" {
		t.Errorf("compared with nothing: %s", newest.Diff)
	}
	_, err = d.save(d.current().Version, File{"mesh.yaml", hostsText + testsText})
	must(t, err)
}

// The history is bounded, and in order even if the clock is set back.
func TestBoundedHistory(t *testing.T) {
	d := newDesk(t, File{"mesh.yaml", hostsText})
	for i := range MaxVersions + 5 {
		if i == MaxVersions/2 {
			d.now = d.now.AddDate(-1, 0, 0)
		}
		v, err := d.history.draft(Version{At: d.now, Comment: fmt.Sprint(i)}, nil)
		must(t, err)
		must(t, d.history.commit(v))
	}
	d.open()
	all := d.History()
	if len(all) != MaxVersions || all[0].Comment != fmt.Sprint(MaxVersions+4) || all[MaxVersions-1].Comment != "5" {
		t.Errorf("%d versions, from %s to %s", len(all), all[len(all)-1].Comment, all[0].Comment)
	}
	if files, err := os.ReadDir(filepath.Join(d.data, "history")); err != nil || len(files) != MaxVersions {
		t.Errorf("%d files, %v", len(files), err)
	}
}
