// Package durable replaces files so that they outlive a power cut.
//
// It knows the order of writing, syncing and renaming that a Linux file system needs. It keeps no format and no lock: who
// writes what, and one at a time, is the caller's to see to.
package durable

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Write replaces a file by the content given, as Replace does.
func Write(path string, content []byte) error {
	return Replace(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Replace replaces a file, or makes it, for its owner alone to read. Whenever power ends, the file is the old one or the
// new one, whole; when Replace has returned nil, it is the new one. After an error it is the old one, or, where the last step
// failed, the new one until power ends.
//
//	write .NAME.new -> sync it -> rename it to NAME -> sync the folder, which makes the new name last
//
// What a killed process leaves under the first name is overwritten by the next.
func Replace(path string, write func(io.Writer) error) error {
	folder, name := filepath.Split(path)
	draft := filepath.Join(folder, "."+name+".new")
	file, err := os.OpenFile(draft, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(draft) // what is left of it after an error; after a success there is none
	if err := fill(file, write); err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// fill writes, syncs and closes a file.
func fill(file *os.File, write func(io.Writer) error) error {
	buffered := bufio.NewWriterSize(file, 1<<16) // a plan has a hundred thousand small lines
	err := write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// Sync makes the names in a folder last: of files that were made in it, renamed or removed.
func Sync(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
