package account

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// AdoptTokens takes over the tokens of earlier releases, a file for each in the controller's folder tokens/, with the
// scopes that they had there, and takes the files away. One whose name is taken, or that is no token, stays where it is
// and is named in the log. It can be called at every start.
func (b *Book) AdoptTokens() (adopted []string, err error) {
	folder := filepath.Join(filepath.Dir(b.folder), oldFolder)
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(files) == 0 {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("adopt tokens: %w", err)
	}
	for _, f := range files {
		name := f.Name()
		if CheckName(name) != nil || !f.Type().IsRegular() {
			continue // such as the draft of a process that was killed
		}
		hash, made, err := readOldToken(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process was faster
		}
		if err == nil {
			err = b.adopt(name, hash, made)
		}
		if err == nil {
			err = os.Remove(filepath.Join(folder, name))
		}
		if errors.Is(err, ErrTaken) || errors.Is(err, errOldToken) {
			b.log.Warn("a token of an earlier release stays in its file", "file", filepath.Join(folder, name), "error", err)
		} else if err != nil {
			return adopted, fmt.Errorf("adopt token %s: %w", name, err)
		} else {
			adopted = append(adopted, name)
		}
	}
	return adopted, nil
}

// oldFolder has a file for each token, under its name: the SHA-256 of it in hexadecimal.
const oldFolder = "tokens"

var errOldToken = errors.New("want 64 hexadecimal digits, the SHA-256 of a token")

// oldTokenBytes is what is read of an old token's file: twice what it has.
const oldTokenBytes = 128

func readOldToken(path string) (hash digest, made time.Time, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return hash, made, err
	}
	if info.Size() > oldTokenBytes {
		return hash, made, errOldToken
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return hash, made, err
	}
	hash, err = parseOldToken(text)
	return hash, info.ModTime().UTC().Truncate(time.Second), err
}

func parseOldToken(text []byte) (hash digest, err error) {
	if hash.UnmarshalText([]byte(strings.TrimSpace(string(text)))) != nil {
		return hash, errOldToken
	}
	return hash, nil
}

// adopt is nil for a token that was adopted before, by a process that was killed before it took the file away.
func (b *Book) adopt(name string, hash digest, made time.Time) error {
	c, err := b.contents.get()
	if err != nil {
		return err
	}
	if t := c.token(name); t != nil && t.Hash == hash {
		return nil
	}
	owner := Actor{Identity: Owner()}
	return b.change(act{owner, "adopt token of an earlier release", name}, true, func(c *contents) error {
		if c.token(name) != nil || c.secrets[hash] != nil {
			return ErrTaken
		}
		c.Tokens = append(c.Tokens, &token{Name: name, Hash: hash, Scopes: Operator.Scopes(), Made: made})
		return nil
	})
}
