// Package durable replaces files so that they outlive a power cut, and gives what root makes in another user's folder to that
// user.
//
// It knows the order of writing, syncing and renaming that a Linux file system needs. It keeps no format and no lock: who
// writes what, and one at a time, is the caller's to see to.
package durable

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write replaces a file by the content given, as Replace does.
func Write(path string, content []byte) error { return Owner{}.Write(path, content) }

// Rewrite replaces the content of a file that is not this program's alone. As Write, but the new file has the old one's mode
// and, as far as this process may give it away, its owner, before it takes the name. One that was not there is for its owner
// alone to read.
func Rewrite(path string, content []byte) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Write(path, content)
	} else if err != nil {
		return err
	}
	return replace(path, 0, func(file *os.File) error {
		if _, err := file.Write(content); err != nil {
			return err
		}
		if was, ok := info.Sys().(*syscall.Stat_t); ok && file.Chown(int(was.Uid), int(was.Gid)) != nil {
			_ = file.Chown(-1, int(was.Gid)) // more than its own groups only root may give
		}
		return file.Chmod(info.Mode().Perm())
	})
}

// Replace replaces a file, or makes it, for its owner alone to read. Whenever power ends, the file is the old one or the
// new one, whole; when Replace has returned nil, it is the new one. After an error it is the old one, or, where the last step
// failed, the new one until power ends.
//
//	write .NAME.new -> sync it -> rename it to NAME -> sync the folder, which makes the new name last
//
// What a killed process leaves under the first name is overwritten by the next.
func Replace(path string, write func(io.Writer) error) error { return Owner{}.Replace(path, write) }

func buffered(file *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(file, 1<<16) // a plan has a hundred thousand small lines
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

// replace has a draft written, which takes the file's name when it is whole and on disk.
func replace(path string, flags int, write func(*os.File) error) error {
	draft := draftOf(path)
	file, err := os.OpenFile(draft, flags|os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(draft) // what is left of it after an error; after a success there is none
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

func draftOf(path string) string {
	folder, name := filepath.Split(path)
	return filepath.Join(folder, "."+name+".new")
}

// Sync makes the names in a folder last: of files that were made in it, renamed or removed.
func Sync(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
