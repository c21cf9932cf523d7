package account

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/durable"
)

// folderOwner is whose the controller's folder is. What root makes in another's folder, such as by a command on a machine
// where the controller runs as a user of its own, is given to that one: else the controller could not read its accounts
// any more.
type folderOwner struct {
	other    bool // than this process, which is root
	uid, gid int
}

func ownerOf(folder string) (folderOwner, error) {
	info, err := os.Stat(folder)
	if err != nil {
		return folderOwner{}, err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && s.Uid != 0 {
		return folderOwner{true, int(s.Uid), int(s.Gid)}, nil
	}
	return folderOwner{}, nil
}

// give gives a path away; of a link, itself: its maker must not get what it leads to.
func (o folderOwner) give(path string) error {
	if !o.other {
		return nil
	}
	return os.Lchown(path, o.uid, o.gid)
}

func (o folderOwner) mkdir(path string) error {
	if err := os.Mkdir(path, 0o700); errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	return o.give(path)
}

// open opens a file for writing and makes it if there is none.
func (o folderOwner) open(path string, flags int) (*os.File, error) {
	if o.other {
		flags |= unix.O_NOFOLLOW // root does not write where another's link leads
	}
	file, err := os.OpenFile(path, flags|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := o.give(path); err != nil {
		file.Close()
		return nil, fmt.Errorf("give to the folder's owner: %w", err)
	}
	return file, nil
}

// replace replaces a file by a JSON document. The draft (see durable.Replace) is given away before it takes the name.
func (o folderOwner) replace(path string, document any) error {
	draft := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if o.other {
		_ = os.Remove(draft) // a link that somebody laid there
	}
	return durable.Replace(path, func(w io.Writer) error {
		if err := o.give(draft); err != nil {
			return fmt.Errorf("give to the folder's owner: %w", err)
		}
		return toJSON(document)(w)
	})
}
