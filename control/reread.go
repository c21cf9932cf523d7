package control

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/probe"
)

// source is what tells two states of the mesh file apart: a hash of names and contents.
type source [sha256.Size]byte

// sourceOf hashes a file, or the mesh files of a folder.
func sourceOf(path string) (source, error) {
	h := sha256.New()
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != path {
				return fs.SkipDir
			}
			return nil
		}
		if name != path && !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
			return nil
		}
		text, err := os.ReadFile(name)
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(text), text)
		return err
	})
	if err != nil {
		return source{}, fmt.Errorf("read mesh file: %w", err)
	}
	return source(h.Sum(nil)), nil
}

// read puts the mesh file in force.
func (c *Control) read() error {
	s, err := sourceOf(c.config.Mesh)
	if err != nil {
		return err
	}
	m, err := config.Load(c.config.Mesh, probe.Catalogue{})
	if err == nil {
		err = c.config.Changed(m)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.source, c.trouble = s, err
	if err != nil {
		return err
	}
	c.mesh = m
	for _, note := range m.Notes() {
		c.config.Log.Warn("mesh file", "note", note)
	}
	return nil
}

// reread puts the mesh file in force if it changed, and asks for a plan. One with errors changes nothing: the last one
// stays until they are mended.
func (c *Control) reread() error {
	s, err := sourceOf(c.config.Mesh)
	if err != nil {
		return c.troubled(err)
	}
	c.mu.Lock()
	same := s == c.source
	c.mu.Unlock()
	if same {
		return nil
	}
	if err := c.read(); err != nil {
		return fmt.Errorf("the mesh stays as it was: %w", err)
	}
	c.config.Log.Info("mesh file in force", "hosts", len(c.Mesh().Hosts), "tests", len(c.Mesh().Tests))
	c.wake()
	return nil
}

// troubled notes why the mesh file cannot be read, and returns the error if it is news.
func (c *Control) troubled(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trouble != nil && errors.Is(c.trouble, err) || c.trouble != nil && c.trouble.Error() == err.Error() {
		return nil
	}
	c.trouble = err
	c.source = source{} // whatever comes back is new
	return err
}

// Mesh returns the mesh in force. It is never changed, only replaced.
func (c *Control) Mesh() *config.Mesh {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mesh
}

// Trouble returns why the mesh file as it stands is not in force; nil if it is.
func (c *Control) Trouble() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trouble
}
