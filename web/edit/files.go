package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/input"
)

// File is one mesh file.
type File struct {
	Name string `json:"name" doc:"Without a folder: NAME.yaml or NAME.yml" example:"mesh.yaml"`
	Text string `json:"text"`
}

// What can be edited here: more is for an editor on the controller's machine.
const (
	MaxFile  = 1 << 20 // bytes of a file, which the YAML parser takes 5 s for
	MaxFiles = 64
	MaxTotal = 4 << 20 // bytes of all files together
	maxName  = 100     // bytes; a file system has 255, and a draft's name is longer
)

// refusal is a part of a proposal, or of what is on disk, that cannot be taken, and what would be right.
func refusal(what, value, want string) error {
	if value == "" {
		return input.Errorf("%s: want %s", what, want)
	}
	return input.Errorf("%s: %q: want %s", what, value, want)
}

// checkName says what is wrong with the name of a file. One that is right has no folder in it, and is one that config.Load reads.
func checkName(name string) error {
	ext := filepath.Ext(name)
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == '/' || r == '\\' || r == utf8.RuneError }
	if len(name) > maxName || strings.HasPrefix(name, ".") || strings.ContainsFunc(name, odd) ||
		ext != ".yaml" && ext != ".yml" || strings.TrimSpace(name) != name {
		return refusal("name", name, fmt.Sprintf("NAME.yaml or NAME.yml, without a folder, of at most %d bytes", maxName))
	}
	return nil
}

// checkSize says what is too much.
func checkSize(files []File) error {
	if len(files) > MaxFiles {
		return refusal("files", fmt.Sprint(len(files)), fmt.Sprintf("at most %d", MaxFiles))
	}
	total := 0
	for _, f := range files {
		if len(f.Text) > MaxFile {
			return refusal(f.Name, fmt.Sprintf("%d bytes", len(f.Text)),
				fmt.Sprintf("at most %d; it can be split, or edited on the controller's machine", MaxFile))
		}
		if !utf8.ValidString(f.Text) {
			return refusal(f.Name, "", "UTF-8; what is not can be edited on the controller's machine")
		}
		total += len(f.Text)
	}
	if total > MaxTotal {
		return refusal("files", fmt.Sprintf("%d bytes", total), fmt.Sprintf("at most %d in all", MaxTotal))
	}
	return nil
}

// proposed checks a set of files, and returns it by name.
func (b *Book) proposed(files []File) ([]File, error) {
	if !b.folder {
		if name := filepath.Base(b.options.Mesh); len(files) != 1 || files[0].Name != name {
			return nil, refusal("files", "", "one, whose name is "+name+": the controller reads no folder")
		}
		return files, checkSize(files)
	}
	if len(files) == 0 {
		return nil, refusal("files", "", "at least one")
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(x, y File) int { return strings.Compare(x.Name, y.Name) })
	for i, f := range files {
		if err := checkName(f.Name); err != nil {
			return nil, err
		}
		if i > 0 && files[i-1].Name == f.Name {
			return nil, refusal("name", f.Name, "each name once")
		}
	}
	return files, checkSize(files)
}

// read reads what is on disk. A file that is gone is none: the history can bring it back.
func (b *Book) read() ([]File, error) {
	folder, names := filepath.Dir(b.options.Mesh), []string{filepath.Base(b.options.Mesh)}
	if b.folder {
		folder, names = b.options.Mesh, nil
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("read the folder of mesh files: %w", plain(filepath.Base(folder), err))
		}
		for _, e := range entries {
			// Those that config.Load reads: a name that begins with a dot is not.
			if name := e.Name(); !strings.HasPrefix(name, ".") && (strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")) {
				names = append(names, name)
			}
		}
	}
	if len(names) > MaxFiles {
		return nil, checkSize(make([]File, len(names)))
	}
	files := []File{}
	for _, name := range names {
		if b.folder {
			if err := checkName(name); err != nil {
				return nil, err
			}
		}
		text, err := readFile(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read mesh file: %w", plain(name, err))
		}
		files = append(files, File{name, text})
	}
	return files, checkSize(files)
}

// readFile reads no more than shows that it is too much.
func readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	return string(text), err
}

// versionOf is a hash of names and texts, which are sorted.
func versionOf(files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %s %d %s", len(f.Name), f.Name, len(f.Text), f.Text)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func parsed(files []File) []config.File {
	var all []config.File
	for _, f := range files {
		all = append(all, config.File{Name: f.Name, Text: []byte(f.Text)})
	}
	return all
}

// textOf returns a file's text, and whether there is that file.
func textOf(files []File, name string) (string, bool) {
	for _, f := range files {
		if f.Name == name {
			return f.Text, true
		}
	}
	return "", false
}
