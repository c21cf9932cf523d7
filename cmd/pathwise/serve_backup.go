package main

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/durable"
)

// A backup of a controller is a tar file, encrypted by age with a passphrase if there is one:
//
//	manifest.json   backupManifest
//	archive         what archive.Backup writes
//	data/…          the controller's folder without the archive: keys, accounts, audit log, plan, history of the mesh file
//	mesh/…          the mesh file, or the files of its folder
const (
	backupSchema   = "pathwise.backup/2"
	backupManifest = "manifest.json"
	backupArchive  = "archive"
	backupData     = "data/"
	backupMesh     = "mesh/"
	// archiveDraft is the archive's part in the controller's folder, until it is in the tar file.
	archiveDraft = ".archive.backup"
)

// manifest says what a backup is of.
type manifest struct {
	Schema  string    `json:"schema"`
	Version string    `json:"version"` // of Pathwise
	Made    time.Time `json:"made"`
	Folder  bool      `json:"folder"`            // the mesh is described in a folder of files
	Archive string    `json:"archive,omitempty"` // where the archive was; "": in the controller's folder
}

// backup writes all that a controller needs to go on elsewhere.
type backup struct {
	mesh, data, archive string // the mesh file or folder; the controller's folder; where the archive is
	store               archive.Archive
}

// write makes a new file at path, readable by its owner alone, whole or not at all.
func (b *backup) write(ctx context.Context, path, passphrase string) error {
	draft := filepath.Join(b.data, archiveDraft)
	defer os.Remove(draft)
	if err := b.store.Backup(ctx, draft); err != nil {
		return err
	}
	err := durable.Replace(path, func(w io.Writer) error {
		if passphrase == "" {
			return b.pack(w)
		}
		to, err := age.NewScryptRecipient(passphrase)
		if err != nil {
			return err
		}
		sealed, err := age.Encrypt(w, to)
		if err != nil {
			return err
		}
		return errors.Join(b.pack(sealed), sealed.Close())
	})
	if err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

func (b *backup) pack(w io.Writer) error {
	info, err := os.Stat(b.mesh)
	if err != nil {
		return err
	}
	m := manifest{Schema: backupSchema, Version: version(), Made: time.Now().UTC(), Folder: info.IsDir()}
	if b.archive != filepath.Join(b.data, "archive.sqlite") {
		m.Archive = b.archive
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	if err := out.WriteHeader(&tar.Header{Name: backupManifest, Mode: 0o600, Size: int64(len(text)), ModTime: m.Made}); err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return err
	}
	if err := addFile(out, backupArchive, filepath.Join(b.data, archiveDraft)); err != nil {
		return err
	}
	if err := addFolder(out, backupData, b.data, b.leftOut); err != nil {
		return err
	}
	if m.Folder {
		err = addFolder(out, backupMesh, b.mesh, func(string) bool { return false })
	} else {
		err = addFile(out, backupMesh+filepath.Base(b.mesh), b.mesh)
	}
	return errors.Join(err, out.Close())
}

// leftOut says that a file of the controller's folder is the archive's, or a draft of what is being replaced.
func (b *backup) leftOut(path string) bool {
	return strings.HasPrefix(path, b.archive) || strings.HasPrefix(filepath.Base(path), ".")
}

func addFolder(out *tar.Writer, name, folder string, leftOut func(path string) bool) error {
	return filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // replaced meanwhile by one of the same name
		}
		if err != nil || !e.Type().IsRegular() || leftOut(path) {
			return err
		}
		within, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		err = addFile(out, name+filepath.ToSlash(within), path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// addFile adds a file as long as it is now: one that grows, such as a log, is not waited for.
func addFile(out *tar.Writer, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := &tar.Header{Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.CopyN(out, f, info.Size())
	return err
}
