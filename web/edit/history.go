package edit

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
)

// MaxVersions is how many versions are kept: of two changes on each working day, a year's. The oldest is forgotten first.
const MaxVersions = 500

// Version is what the files were once, without their text.
type Version struct {
	ID      string    `json:"id" example:"01KAG0000000000000000000AA"`
	At      time.Time `json:"at"`
	By      string    `json:"by" doc:"Who saved it; empty: somebody with an editor on the controller's machine"`
	Comment string    `json:"comment"`
	Version string    `json:"version" doc:"The same for equal names and texts"`
}

// ErrUnknown says that there is no version of that ID, or no longer.
var ErrUnknown = errors.New("no such version of the mesh file; it may be older than the oldest that is kept")

// history is a folder with a file for each version: two JSON documents, compressed, the Version and its files. A file's name
// is its ID, so that names sort by time. One that is not known to be on disk as it says is a draft, under another suffix:
//
//	01KAG….draft  ->  the mesh files are replaced  ->  01KAG….json.gz
type history struct {
	folder   string
	log      *slog.Logger
	versions []Version // oldest first; never changed, only replaced
	entropy  *ulid.MonotonicEntropy
}

const (
	keptSuffix  = ".json.gz"
	draftSuffix = ".draft"
)

// openHistory reads what versions there are. A damaged file costs its version, and is left for who can mend it.
func openHistory(folder string, log *slog.Logger) (*history, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder) // by name
	if err != nil {
		return nil, err
	}
	h := &history{folder: folder, log: log, entropy: ulid.Monotonic(rand.Reader, 0)}
	for _, e := range entries {
		id, kept := strings.CutSuffix(e.Name(), keptSuffix)
		if _, err := ulid.ParseStrict(id); !kept || err != nil {
			continue
		}
		v, _, err := h.open(id, false)
		if err != nil {
			log.Warn("a version of the mesh file cannot be read", "id", id, "error", err)
			continue
		}
		h.versions = append(h.versions, v)
	}
	return h, nil
}

func (h *history) path(id, suffix string) string { return filepath.Join(h.folder, id+suffix) }

// open reads a version, and its files if they are wanted.
func (h *history) open(id string, whole bool) (v Version, files []File, err error) {
	return openEntry(h.path(id, keptSuffix), id, whole)
}

func openEntry(path, id string, whole bool) (v Version, files []File, err error) {
	f, err := os.Open(path)
	if err != nil {
		return v, nil, err
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return v, nil, err
	}
	in := document.NewStream(unpacked, 16*MaxTotal) // JSON's escapes take at most six times as much
	if err := in.Next(&v); err != nil {
		return v, nil, err
	}
	if v.ID != id {
		return v, nil, fmt.Errorf("it says that it is %q", v.ID)
	}
	if !whole {
		return v, nil, nil
	}
	if err := in.Next(&files); err != nil {
		return v, nil, err
	}
	if _, err := io.Copy(io.Discard, unpacked); err != nil { // the checksum comes last
		return v, nil, err
	}
	if versionOf(files) != v.Version {
		return v, nil, errors.New("its texts are not those that were saved")
	}
	return v, files, nil
}

// newest is the last version that was noted.
func (h *history) newest() (Version, bool) {
	if len(h.versions) == 0 {
		return Version{}, false
	}
	return h.versions[len(h.versions)-1], true
}

// draft writes a version to disk that is not in the history yet, and fills in its ID.
func (h *history) draft(v Version, files []File) (Version, error) {
	ms := ulid.Timestamp(v.At)
	if last, any := h.newest(); any { // a clock that was set back does not change the order
		ms = max(ms, ulid.MustParseStrict(last.ID).Time()+1)
	}
	id, err := ulid.New(ms, h.entropy)
	if err != nil {
		return v, fmt.Errorf("name a version: %w", err)
	}
	v.ID, v.At = id.String(), v.At.UTC().Truncate(time.Millisecond)
	var text bytes.Buffer
	packed := gzip.NewWriter(&text)
	out := json.NewEncoder(packed)
	if err := errors.Join(out.Encode(v), out.Encode(files), packed.Close()); err != nil {
		return v, err
	}
	if err := durable.Write(h.path(v.ID, draftSuffix), text.Bytes()); err != nil {
		return v, fmt.Errorf("write the mesh file's history: %w", plain(filepath.Base(h.folder), err))
	}
	return v, nil
}

// drop forgets a draft.
func (h *history) drop(v Version) { _ = os.Remove(h.path(v.ID, draftSuffix)) } // else adopt does

// commit makes a draft a version, and forgets the oldest.
func (h *history) commit(v Version) error {
	if err := os.Rename(h.path(v.ID, draftSuffix), h.path(v.ID, keptSuffix)); err != nil {
		return fmt.Errorf("write the mesh file's history: %w", plain(filepath.Base(h.folder), err))
	}
	all := append(slices.Clone(h.versions), v)
	for len(all) > MaxVersions {
		if err := os.Remove(h.path(all[0].ID, keptSuffix)); err != nil {
			h.log.Warn("the oldest version of the mesh file cannot be forgotten", "error", err)
		}
		all = all[1:]
	}
	h.versions = all
	return durable.Sync(h.folder)
}

// adopt ends what a killed process left: the draft of what is on disk becomes a version, and others are forgotten.
func (h *history) adopt(version string) {
	entries, _ := os.ReadDir(h.folder) // what cannot be read now, the next process adopts
	for _, e := range entries {
		id, draft := strings.CutSuffix(e.Name(), draftSuffix)
		if !draft {
			continue
		}
		path := h.path(id, draftSuffix)
		v, files, err := openEntry(path, id, true)
		if last, any := h.newest(); err == nil && v.Version == version && versionOf(files) == version && (!any || v.ID > last.ID) {
			if h.commit(v) == nil {
				continue
			}
		}
		_ = os.Remove(path) // else the next process does
	}
}
