// Package edit lets people change the mesh file of a controller that runs: it checks what they wrote, says what would come of
// it, saves it, and keeps every version, so that any of them can be brought back.
//
// It parses nothing and plans nothing itself: what is wrong with a text is config's to say, what it would ask of hosts config's
// and control's. It puts nothing in force either: control reads the files again when they changed, whoever changed them, and
// tells a Book by Follow, which so notes the versions that were made with an editor, too. It knows no accounts and no HTTP.
//
//	files -> Check: errors | before, after, warnings, diff          nothing is written
//	      -> Save:  draft in history -> journal -> each file -> history     see save.go for what a kill leaves
package edit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/measure"
)

// Options are what a Book works with.
type Options struct {
	Mesh string // the mesh file, or a folder of them
	Data string // the controller's folder; the versions are in history/ in it

	Check   config.Checker                    // as the controller reads the file
	Demand  func(measure.Task) measure.Demand // what a run of a checked task asks for
	Rates   func() *control.Rates             // what the controller goes by now; nil: nothing was measured
	Started config.Controller                 // what the controller was started with
	Now     func() time.Time                  // nil: time.Now
	Log     *slog.Logger                      // nil: none

	replace func(path string, text []byte) error // nil: durable.Rewrite; tests have disks that fail
	access  func(path string) error              // nil: mayWrite; tests have some that may not
	pairs   int                                  // 0: MaxPairs; tests have fewer
}

// Book is the mesh files of a controller, and what they were. Its methods may be called at any time.
type Book struct {
	options Options
	folder  bool          // Mesh is one
	turn    chan struct{} // holds an element while somebody's text is checked: a large one takes a core for seconds

	mu      sync.RWMutex // of the files and of what follows
	history *history
	torn    bool   // several files were replaced since Follow was last sure that none was read in between
	inForce string // what Follow saw last that was taken
	before  judged // what is on disk, as it was judged last
}

// Open opens the history in the controller's folder, and makes one if there is none.
func Open(o Options) (*Book, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.replace == nil {
		o.replace = durable.Rewrite
	}
	if o.access == nil {
		o.access = mayWrite
	}
	if o.Rates == nil {
		o.Rates = func() *control.Rates { return nil }
	}
	o.pairs = cmp.Or(o.pairs, MaxPairs)
	if o.Mesh == "" || o.Data == "" || o.Demand == nil {
		return nil, errors.New("edit: Mesh, Data and Demand are needed")
	}
	o.Mesh = filepath.Clean(o.Mesh)
	info, err := os.Stat(o.Mesh)
	if err != nil {
		return nil, fmt.Errorf("read mesh file: %w", err)
	}
	if err := Recover(o.Mesh); err != nil {
		return nil, err
	}
	h, err := openHistory(filepath.Join(o.Data, "history"), o.Log)
	if err != nil {
		return nil, fmt.Errorf("open the mesh file's history: %w", err)
	}
	b := &Book{options: o, folder: info.IsDir(), turn: make(chan struct{}, 1), history: h}
	if files, err := b.read(); err == nil {
		h.adopt(versionOf(files))
	}
	return b, nil
}

// Current is what is on disk.
type Current struct {
	Version string `json:"version" doc:"Of names and texts: what is saved later names it as what it began from"`
	Folder  bool   `json:"folder" doc:"Whether there may be several files"`
	Files   []File `json:"files" doc:"By name"`
	InForce string `json:"in_force" doc:"The version that the controller read last and had nothing against"`

	ReadOnly string `json:"read_only,omitempty" doc:"Why nothing can be saved: the files are not the controller's to write; missing: they are"`
}

// Read returns what is on disk. What is there and cannot be edited here is bad input.
func (b *Book) Read() (Current, error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	files, err := b.read()
	return Current{versionOf(files), b.folder, files, b.inForce, b.readOnly()}, err
}

// Plain is what an error of the controller says of the files, without where on this machine they lie.
func (b *Book) Plain(text string) string {
	text = strings.ReplaceAll(text, b.options.Mesh+string(filepath.Separator), "")
	return strings.ReplaceAll(text, b.options.Mesh, filepath.Base(b.options.Mesh))
}

// Follow notes that a mesh is to be in force, and that it is if then takes it: for control.Config.Changed. Its error is then's,
// or says that files were read while some of them were being replaced: control reads them again.
func (b *Book) Follow(m *config.Mesh, then func(*config.Mesh) error) error {
	version, err := b.followed(m)
	if err == nil {
		err = then(m)
	}
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inForce = cmp.Or(version, b.inForce)
	return nil
}

// followed notes a mesh in the history, and returns its version; "" if that is not known.
func (b *Book) followed(m *config.Mesh) (version string, err error) {
	b.mu.Lock() // nothing is being replaced
	defer b.mu.Unlock()
	files, err := b.read()
	if err != nil {
		b.options.Log.Warn("the history of the mesh file has a gap", "error", err)
		return "", nil
	}
	if b.torn {
		if now, err := config.Load(b.options.Mesh, b.options.Check); err == nil && !reflect.DeepEqual(now, m) {
			return "", errTorn
		}
		b.torn = false
	}
	if err := b.note(files); err != nil {
		b.options.Log.Warn("the history of the mesh file has a gap", "error", err)
	}
	return versionOf(files), nil
}

var errTorn = errors.New("several files were being saved while they were read; they are read again")

// note adds what is on disk to the history, if it is not its newest: somebody changed it with an editor.
func (b *Book) note(files []File) error {
	version := versionOf(files)
	if newest, any := b.history.newest(); any && newest.Version == version || len(files) == 0 {
		return nil
	}
	entry := Version{At: b.options.Now(), Version: version}
	if _, any := b.history.newest(); !any {
		entry.Comment = "as it was when this history began"
	}
	d, err := b.history.draft(entry, files)
	if err != nil {
		return err
	}
	return b.history.commit(d)
}

// wait waits for one's turn to have something checked.
func (b *Book) wait(ctx context.Context) (done func(), err error) {
	select {
	case b.turn <- struct{}{}:
		return func() { <-b.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// plain is an error about a file without where on this machine that lies; nil if it is nil.
func plain(name string, err error) error {
	if err == nil {
		return nil
	}
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// opened are the parts of the section controller that a process opens once, when it starts, by their keys; the others take
// effect while it runs.
var opened = map[string]string{
	"Listen": "listen", "Proxies": "proxies", "TLS": "tls", "NATS": "nats", "Archive": "archive", "Retention": "retention",
	"RemoteWrite": "remote_write", "Data": "data", "Labs": "labs", "Lookup": "lookup",
}

// atNextStart says which parts of a controller differ from those that it was started with. It shows no value: some are secrets.
func atNextStart(started, proposed *config.Controller) []string {
	var all []string
	was, is := reflect.ValueOf(started).Elem(), reflect.ValueOf(proposed).Elem()
	for i := range was.NumField() {
		key, once := opened[was.Type().Field(i).Name]
		if once && !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			all = append(all, "controller."+key+" takes effect at the next start of the controller")
		}
	}
	return all
}
