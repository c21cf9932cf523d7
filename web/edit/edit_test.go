package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

const (
	hostsText = "hosts: {a: 10.0.0.1, b: 10.0.0.2}\n"
	testsText = "tools: {rtt: {probe: ping}, bulk: {probe: throughput, parameters: {duration: 10s}}}\n" +
		"groups: {all: {mesh: all}}\ntests:\n  - {tool: rtt, group: all, schedule: {every: 1h}}\n"
	bulkText = testsText + "  - {tool: bulk, group: all, schedule: {every: 1h}}\n"
)

// desk is a Book and the folders that it works in.
type desk struct {
	*Book
	t          *testing.T
	mesh, data string
	now        time.Time
	refusal    error // of the hosts' part of the controller
}

// newDesk makes a Book of one file, or of a folder of several.
func newDesk(t *testing.T, files ...File) *desk {
	t.Helper()
	d := &desk{t: t, mesh: t.TempDir(), data: t.TempDir(), now: time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)}
	for _, f := range files {
		must(t, os.WriteFile(filepath.Join(d.mesh, f.Name), []byte(f.Text), 0o640))
	}
	if len(files) == 1 {
		d.mesh = filepath.Join(d.mesh, files[0].Name)
	}
	d.open()
	return d
}

// open is what a start of the controller does.
func (d *desk) open() {
	d.t.Helper()
	b, err := Open(Options{Mesh: d.mesh, Data: d.data, Check: probe.Catalogue{}, Now: func() time.Time { return d.now },
		Demand: func(task measure.Task) measure.Demand { need, _ := probe.Demand(task); return need }})
	must(d.t, err)
	d.Book = b
}

// load reads the files as control does.
func (d *desk) load() error {
	d.t.Helper()
	m, err := config.Load(d.mesh, probe.Catalogue{})
	must(d.t, err)
	return d.Follow(m, func(*config.Mesh) error { return d.refusal })
}

func (d *desk) current() Current {
	d.t.Helper()
	c, err := d.Read()
	must(d.t, err)
	return c
}

func (d *desk) save(from string, files ...File) (Version, error) {
	d.now = d.now.Add(time.Minute)
	return d.Save(d.t.Context(), Change{From: from, Files: files, By: "anna", Comment: "why"})
}

// comments are those of the history, newest first, with who made them.
func (d *desk) comments() (all []string) {
	for _, v := range d.History() {
		all = append(all, v.By+": "+v.Comment)
	}
	return all
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

const first = ": as it was when this history began"

// What is saved is on disk and in the history, what an editor saves in the history as well, and an older text can be saved again.
func TestSaveAndUndo(t *testing.T) {
	d := newDesk(t, File{"mesh.yaml", hostsText + testsText})
	must(t, d.load())
	began := d.current()
	expect(t, "what is read", began, Current{Version: began.Version, Files: []File{{"mesh.yaml", hostsText + testsText}}, InForce: began.Version})
	v, err := d.save(began.Version, File{"mesh.yaml", hostsText + bulkText})
	must(t, err)
	expect(t, "the version saved", v, Version{ID: v.ID, At: d.now, By: "anna", Comment: "why", Version: d.current().Version})
	if info, err := os.Stat(d.mesh); err != nil || info.Mode() != 0o640 {
		t.Errorf("the file's mode: %v, %v; want the one that it had", info.Mode(), err)
	}
	d.refusal = errors.New("no key for a")
	if err := d.load(); err != d.refusal {
		t.Errorf("loaded what the hosts' part refuses: %v", err)
	}
	expect(t, "in force", d.current().InForce, began.Version)
	d.refusal = nil
	must(t, d.load())
	expect(t, "in force", d.current().InForce, v.Version)

	must(t, os.WriteFile(d.mesh, []byte(hostsText+testsText+"# by hand\n"), 0o640))
	d.now = d.now.Add(time.Minute)
	must(t, d.load())
	must(t, d.load()) // it is noted once
	expect(t, "history", d.comments(), []string{": ", "anna: why", first})

	d.open() // as after a restart
	old, err := d.Version(d.History()[2].ID)
	must(t, err)
	_, err = d.save(d.current().Version, old.Files...)
	must(t, err)
	expect(t, "brought back", d.current().Files, began.Files)
	expect(t, "history", d.comments(), []string{"anna: why", ": ", "anna: why", first})
	again, err := d.save(d.current().Version, old.Files...)
	must(t, err)
	expect(t, "saving what is there", again, d.History()[0])

	hand, err := d.Version(d.History()[1].ID)
	must(t, err)
	if !strings.Contains(hand.Diff, "\n+# by hand\n") || !strings.Contains(hand.Diff, "\n-  - {tool: bulk,") {
		t.Errorf("what the editor changed:\n%s", hand.Diff)
	}
	if _, err := d.Version("01KAG0000000000000000000ZZ"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a version that there is not: %v", err)
	}
	byHand := d.History()[1]
	all, err := d.Changes(byHand.At, byHand.At.Add(time.Second))
	must(t, err)
	expect(t, "changes of a span", all, []Version{byHand})
}

// Of two who edit at once the second is told, whichever file the other changed, and with whatever.
func TestTwoEditors(t *testing.T) {
	d := newDesk(t, File{"a.yaml", hostsText}, File{"b.yml", testsText})
	began := d.current().Version
	_, err := d.save(began, File{"a.yaml", hostsText + "# one\n"}, File{"b.yml", testsText})
	must(t, err)
	if _, err := d.save(began, File{"a.yaml", hostsText}, File{"b.yml", bulkText}); !errors.Is(err, ErrStale) {
		t.Errorf("the second: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(d.mesh, "a.yaml"), []byte(hostsText), 0o600))
	if _, err := d.save(d.History()[0].Version, File{"a.yaml", hostsText}, File{"b.yml", bulkText}); !errors.Is(err, ErrStale) {
		t.Errorf("after an editor: %v", err)
	}
	results := make(chan error, 8)
	now := d.current().Version
	for i := range cap(results) {
		go func() {
			files := []File{{"a.yaml", fmt.Sprintf("%s# %d\n", hostsText, i)}, {"b.yml", fmt.Sprintf("%s# %d\n", testsText, i)}}
			_, err := d.Save(t.Context(), Change{From: now, Files: files})
			results <- err
		}()
	}
	saved := 0
	for range cap(results) {
		if err := <-results; err == nil {
			saved++
		} else if !errors.Is(err, ErrStale) {
			t.Error(err)
		}
	}
	if saved != 1 {
		t.Errorf("%d of those who save at once did, want one", saved)
	}
	a, b := d.current().Files[0].Text, d.current().Files[1].Text
	if strings.TrimPrefix(a, hostsText) != strings.TrimPrefix(b, testsText) {
		t.Errorf("the files are of two: %q, %q", a, b)
	}
}

// Files come and go with a version.
func TestFilesComeAndGo(t *testing.T) {
	d := newDesk(t, File{"a.yaml", hostsText}, File{"b.yml", testsText})
	began := d.current()
	for _, files := range [][]File{
		{{"all.yaml", hostsText + testsText}},
		{{"a.yaml", hostsText}, {"b.yml", bulkText}, {"c.yaml", "# empty\n"}},
	} {
		_, err := d.save(d.current().Version, files...)
		must(t, err)
		expect(t, "files", d.current().Files, files)
	}
	if _, err := os.Lstat(filepath.Join(d.mesh, journalName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the journal is left: %v", err)
	}
	past, err := d.Version(d.History()[1].ID)
	must(t, err)
	if !strings.Contains(past.Diff, "new file all.yaml\n--- all.yaml\n+++ all.yaml\n@@ -0,0 +1,5 @@\n+hosts") || !strings.Contains(past.Diff, "removed file b.yml") {
		t.Error(past.Diff)
	}
	expect(t, "what this history began with", d.History()[2].Version, began.Version)
}

var errFull = &fs.PathError{Op: "write", Path: "/secret/place", Err: syscall.ENOSPC}

// fails lets a number of writes through, and then none or all.
func (d *desk) fails(after int, again func(path string) bool) {
	d.options.replace = func(path string, text []byte) error {
		if after--; after < 0 && again(path) {
			return errFull
		}
		return durable.Rewrite(path, text)
	}
}

// A disk that is full, or does not let itself be written, leaves everything as it was, and says so without saying where.
func TestNoRoom(t *testing.T) {
	old := []File{{"a.yaml", hostsText}, {"b.yml", testsText}}
	next := []File{{"a.yaml", hostsText + "# next\n"}, {"b.yml", bulkText}, {"c.yaml", "# new\n"}}
	once := true
	for name, prepare := range map[string]func(*desk){
		"journal":             func(d *desk) { d.fails(0, func(string) bool { return true }) },
		"first":               func(d *desk) { d.fails(1, func(path string) bool { return once && strings.HasSuffix(path, "a.yaml") }) },
		"third":               func(d *desk) { d.fails(3, func(path string) bool { return strings.HasSuffix(path, "c.yaml") }) },
		"a folder in the way": func(d *desk) { must(d.t, os.Mkdir(filepath.Join(d.mesh, "c.yaml"), 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, old...)
			began := d.current().Version
			prepare(d)
			_, err := d.save(began, next...)
			once = false
			if err == nil || strings.Contains(err.Error(), "/secret") || strings.Contains(err.Error(), d.mesh) {
				t.Fatalf("the error: %v", err)
			}
			if name != "a folder in the way" && !strings.Contains(err.Error(), "no space left on device; nothing was changed") {
				t.Errorf("the error: %v", err)
			}
			_ = os.Remove(filepath.Join(d.mesh, "c.yaml"))
			d.open()
			expect(t, "files", d.current().Files, old)
			if len(d.History()) > 1 {
				t.Errorf("the history has what was not saved: %v", d.comments())
			}
			_, err = d.save(began, next...)
			must(t, err)
			expect(t, "files", d.current().Files, next)
		})
		once = true
	}
}

// What fails once the new file is there, such as a sync of its folder, does not keep the save from being one.
func TestFolderNotSynced(t *testing.T) {
	for _, files := range [][]File{{{"mesh.yaml", hostsText}}, {{"a.yaml", hostsText}, {"b.yml", testsText}}} {
		d := newDesk(t, files...)
		d.options.replace = func(path string, text []byte) error {
			return errors.Join(durable.Rewrite(path, text), map[bool]error{true: errFull}[filepath.Base(path) != journalName])
		}
		next := append([]File{}, files...)
		for i := range next {
			next[i].Text += "# next\n"
		}
		_, err := d.save(d.current().Version, next...)
		must(t, err)
		expect(t, "files", d.current().Files, next)
		expect(t, "history", d.comments(), []string{"anna: why", first})
	}
}

// A folder may be named with a slash at its end, and the controller's own have any name.
func TestOddFolders(t *testing.T) {
	d := newDesk(t, File{"a.yaml", hostsText}, File{"b.yml", testsText})
	mesh := d.mesh
	d.mesh, d.data = mesh+"/", filepath.Join(d.data, "[a")
	d.open()
	expect(t, "trouble", d.Plain("read mesh file: "+mesh+"/a.yaml:3:1: "+mesh), "read mesh file: a.yaml:3:1: "+filepath.Base(mesh))
	d.saveKilled(2, File{"a.yaml", hostsText + "# next\n"}, File{"b.yml", bulkText})
	d.open()
	expect(t, "history", d.comments(), []string{"anna: why", first})
}

// Where the file, or the folder that a new one is renamed into, is not the controller's to write, Read says so before anybody
// writes anything, and Save does, with a typed error.
func TestReadOnly(t *testing.T) {
	for _, c := range []struct {
		files  []File
		denied string // the name that may not be written; "": the folder
		want   string
	}{
		{[]File{{"mesh.yaml", hostsText}}, "mesh.yaml", "the controller may not write mesh.yaml: read-only file system"},
		{[]File{{"mesh.yaml", hostsText}}, "", "the controller may not write the folder of mesh.yaml: read-only file system"},
		{[]File{{"a.yaml", hostsText}, {"b.yml", testsText}}, "", "the controller may not write the folder FOLDER: read-only file system"},
	} {
		d := newDesk(t, c.files...)
		began := d.current()
		if began.ReadOnly != "" {
			t.Errorf("%s may not be written: %s", began.Files[0].Name, began.ReadOnly)
		}
		folder := folderOf(d.mesh)
		d.options.access = func(path string) error {
			if path == filepath.Join(folder, c.denied) {
				return syscall.EROFS
			}
			return mayWrite(path)
		}
		expect(t, "what is read", d.current().ReadOnly, strings.Replace(c.want, "FOLDER", filepath.Base(folder), 1))
		next := append([]File{}, c.files...)
		next[0].Text += "# next\n"
		var denied *ReadOnly
		if _, err := d.save(began.Version, next...); !errors.As(err, &denied) || strings.Contains(err.Error(), folder) {
			t.Errorf("saved: %v", err)
		}
		expect(t, "files", d.current().Files, c.files)
	}
}
