package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/input"
)

// backupReader unpacks a backup. One of an archive alone, as earlier releases made it, has nothing but that.
type backupReader struct {
	path    string
	file    *os.File
	parts   *tar.Reader // nil: of an archive alone
	to      restored
	archive string // the file with the archive's part
	scratch string // a folder for it; "": none was needed
}

const (
	ageHead  = "age-encryption.org/" // how an encrypted file begins
	zstdHead = "\x28\xb5\x2f\xfd"    // how the backup of an archive alone begins
	// maxManifest in bytes is far above what is written.
	maxManifest = 64 << 10
)

func openBackup(path, passphrase string) (*backupReader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, input.Errorf("%w", err)
	}
	r := &backupReader{path: path, file: file}
	in := bufio.NewReaderSize(file, 1<<20)
	head, _ := in.Peek(len(ageHead))
	switch {
	case bytes.HasPrefix(head, []byte(zstdHead)):
		r.archive = path
		return r, nil
	case bytes.Equal(head, []byte(ageHead)) && passphrase == "":
		err = input.Errorf("%s is encrypted: name its passphrase by --passphrase-file", path)
	case bytes.Equal(head, []byte(ageHead)):
		var by *age.ScryptIdentity
		var plain io.Reader
		if by, err = age.NewScryptIdentity(passphrase); err == nil {
			plain, err = age.Decrypt(in, by)
		}
		if err != nil {
			err = input.Errorf("decrypt %s: %w", path, err)
		}
		r.parts = tar.NewReader(plain)
	default:
		r.parts = tar.NewReader(in)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

func (r *backupReader) close() {
	r.file.Close()
	if r.scratch != "" {
		os.RemoveAll(r.scratch)
	}
}

// read writes each part to its place, the archive's into a file that close removes.
func (r *backupReader) read() error {
	if r.parts == nil {
		if r.to.data != "" {
			return input.Errorf("it holds an archive alone: name ARCHIVE in place of --data")
		}
		return nil
	}
	m, err := r.manifest()
	if err != nil {
		return err
	}
	if r.to.data != "" {
		if r.to.archive, err = placeOfArchive(r.to, m.Archive); err != nil {
			return err
		}
		if r.to.mesh == "" {
			r.to.mesh = filepath.Join(r.to.data, "mesh.yaml")
			if m.Folder {
				r.to.mesh = filepath.Join(r.to.data, "mesh")
			}
		}
	}
	if r.scratch, err = os.MkdirTemp(filepath.Dir(r.path), ".restore-"); err != nil {
		r.scratch, err = os.MkdirTemp("", "pathwise-restore-")
	}
	if err != nil {
		return err
	}
	for {
		h, err := r.parts.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = refuseHoles(h)
		}
		if err == nil {
			err = r.part(h.Name, m.Folder)
		}
		if err != nil {
			return err
		}
	}
	if r.archive == "" {
		return errors.New("not a whole backup: it has no archive")
	}
	return nil
}

// placeOfArchive is where the archive goes beside the folder of its controller. A backup may be somebody else's, so it does not say
// of any place but one in that folder.
func placeOfArchive(to restored, was string) (string, error) {
	switch {
	case was == "" && to.archive != "":
		return "", input.Errorf("its archive was in the controller's folder, and goes there again: leave ARCHIVE out, or --data")
	case was == "":
		return filepath.Join(to.data, "archive.sqlite"), nil
	case to.archive != "":
		return to.archive, nil
	}
	if !strings.Contains(was, "://") && isWithin(to.data, was) {
		return was, nil
	}
	if url, err := url.Parse(was); err == nil {
		was = url.Redacted()
	}
	return "", input.Errorf(
		"its archive was at %q, which is not in the folder of --data: name ARCHIVE, too, where it is to go now", was)
}

func isWithin(folder, path string) bool {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return false
	}
	if path, err = filepath.Abs(path); err != nil {
		return false
	}
	within, err := filepath.Rel(folder, path)
	return err == nil && within != "." && filepath.IsLocal(within)
}

// refuseHoles refuses a part that has holes, in either of the forms that tar files have for them: it would be written with more bytes
// than the backup holds, and could fill the disk.
func refuseHoles(h *tar.Header) error {
	holes := h.Typeflag == tar.TypeGNUSparse
	for key := range h.PAXRecords {
		holes = holes || strings.HasPrefix(key, "GNU.sparse.")
	}
	if holes {
		return input.Errorf("%q: it has holes, as no part of a backup has", h.Name)
	}
	return nil
}

func (r *backupReader) manifest() (m manifest, err error) {
	h, err := r.parts.Next()
	if err != nil || h.Name != backupManifest || h.Size > maxManifest {
		return m, input.Errorf("not a backup that `pathwise mesh backup` wrote")
	}
	if err := json.NewDecoder(r.parts).Decode(&m); err != nil {
		return m, fmt.Errorf("read %s: %w", backupManifest, err)
	}
	if m.Schema != backupSchema {
		return m, input.Errorf("it is of layout %q, and this release reads %s: use pathwise %s", m.Schema, backupSchema, m.Version)
	}
	return m, nil
}

// part writes one file. A name that would lead out of its folder is an error: a backup may be somebody else's.
func (r *backupReader) part(name string, folder bool) error {
	if name == backupArchive {
		r.archive = filepath.Join(r.scratch, "archive")
		return r.save(r.archive)
	}
	if r.to.data == "" {
		return nil
	}
	for prefix, to := range map[string]string{backupData: r.to.data, backupMesh: r.to.mesh} {
		within, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if !filepath.IsLocal(within) {
			return fmt.Errorf("%q leads out of its folder", name)
		}
		path := filepath.Join(to, within)
		if prefix == backupMesh && !folder {
			path = to
		}
		if _, err := os.Lstat(path); err == nil {
			return nil // the mesh file lies in the controller's folder, and is in both parts
		}
		return r.save(path)
	}
	return fmt.Errorf("%q: no such part", name)
}

func (r *backupReader) save(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.Replace(path, func(w io.Writer) error {
		_, err := io.Copy(w, r.parts)
		return err
	})
}
