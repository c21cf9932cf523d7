package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Owner is whose a program's own folder is. What root makes in another's folder, such as by a command on a machine where
// the controller runs as a user of its own, is given to that one: else the controller could not read it any more. The zero
// value gives nothing away.
type Owner struct {
	other    bool // than this process, which is root
	uid, gid int
}

// OwnerOf is the owner of a folder.
func OwnerOf(folder string) (Owner, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return Owner{}, err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && s.Uid != 0 {
		return Owner{true, int(s.Uid), int(s.Gid)}, nil
	}
	return Owner{}, nil
}

// Mkdir makes a folder, for its owner alone, if there is none.
func (o Owner) Mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	if !o.other {
		return nil
	}
	return os.Lchown(path, o.uid, o.gid) // of a link, itself: its maker must not get what it leads to
}

// Open opens a file for reading and writing, and makes it for its owner alone if there is none. flags are more of those of
// os.OpenFile.
func (o Owner) Open(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|o.flags()|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := o.give(file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Write is the function Write, for a file in the owner's folder.
func (o Owner) Write(path string, content []byte) error {
	return o.Replace(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Replace is the function Replace, for a file in the owner's folder: it is given away before it takes the name.
func (o Owner) Replace(path string, write func(io.Writer) error) error {
	if o.other {
		_ = os.Remove(draftOf(path)) // a link that somebody laid there
	}
	return replace(path, o.flags(), func(file *os.File) error {
		if err := o.give(file); err != nil {
			return err
		}
		return buffered(file, write)
	})
}

// flags keep root from writing where another's link leads.
func (o Owner) flags() int {
	if o.other {
		return syscall.O_NOFOLLOW
	}
	return 0
}

func (o Owner) give(file *os.File) error {
	if !o.other {
		return nil
	}
	if err := file.Chown(o.uid, o.gid); err != nil {
		return fmt.Errorf("give to the folder's owner: %w", err)
	}
	return nil
}
