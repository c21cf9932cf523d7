// Package secret reads the files of secrets that a mesh file names: passwords, tokens, private keys, seeds. They lie in one folder
// of the controller, so that whoever changes the mesh file can have no other file of the machine read, and sent to somebody.
package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// longest is above every key and password in bytes; what is longer is no secret.
const longest = 64 << 10

// Folder is where the files of secrets lie.
type Folder string

// In returns the folder of secrets in a controller's folder.
func In(data string) Folder { return Folder(filepath.Join(data, "secrets")) }

// Misplaced says that what names a secret is not a file in the folder.
type Misplaced struct {
	Name   string
	Folder Folder
	Why    error // nil: it is the name itself
}

func (m *Misplaced) Error() string {
	text := fmt.Sprintf("secret %q: want the name of a file in %s: put it there, "+
		"for the controller's user alone to read, and name it without a folder",
		m.Name, string(m.Folder))
	if m.Why != nil {
		text += " (" + m.Why.Error() + ")"
	}
	return text
}

// Unwrap returns what the system says.
func (m *Misplaced) Unwrap() error { return m.Why }

// BadInput marks the error as the user's to mend.
func (m *Misplaced) BadInput() bool { return true }

// Check says whether a text names a file in the folder: by its name alone, or by its absolute path, as older mesh files may. It
// does not look whether the file is there. Its error is a *Misplaced.
func (f Folder) Check(name string) error {
	_, err := f.within(name)
	return err
}

// within returns the file's own name.
func (f Folder) within(name string) (string, error) {
	own := name
	if filepath.IsAbs(name) {
		folder, err := filepath.Abs(string(f))
		if err != nil || filepath.Dir(filepath.Clean(name)) != folder {
			return "", &Misplaced{Name: name, Folder: f}
		}
		own = filepath.Base(name)
	}
	if own == "" || own == "." || own == ".." || strings.ContainsAny(own, "/\\\x00") {
		return "", &Misplaced{Name: name, Folder: f}
	}
	return own, nil
}

// Path returns where a secret lies, for who reads the file by themselves. A link that leads out of the folder is a *Misplaced.
func (f Folder) Path(name string) (string, error) {
	file, err := f.open(name)
	if err != nil {
		return "", err
	}
	own := filepath.Base(file.Name())
	return filepath.Join(string(f), own), file.Close()
}

// Read returns a secret of one line, without the end of the line.
func (f Folder) Read(name string) (string, error) {
	file, err := f.open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, longest+1))
	if err != nil {
		return "", fmt.Errorf("read secret %q: %w", name, err)
	}
	if len(text) > longest {
		return "", &Misplaced{name, f, errors.New("the file is too long for a secret")}
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// open opens a regular file in the folder.
func (f Folder) open(name string) (*os.File, error) {
	own, err := f.within(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(string(f))
	if err != nil {
		return nil, &Misplaced{name, f, bare(err)}
	}
	defer root.Close()
	info, err := root.Stat(own) // before it is opened: that of a pipe would wait
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, &Misplaced{name, f, bare(err)}
	}
	file, err := root.Open(own)
	if err != nil {
		return nil, &Misplaced{name, f, bare(err)}
	}
	return file, nil
}

// bare is an error of the system without the path, which the message has already.
func bare(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
