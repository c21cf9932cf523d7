package document

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ReadPacked reads a file of JSON that gzip packed (RFC 1952), and decodes it as JSON does. It unpacks no more than a byte beyond most.
func ReadPacked(path string, most int, into any) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err == nil {
		err = ReadJSON(packed, most, into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// WritePacked writes a value as JSON that gzip packs, whole or not at all: another reader sees the old file or the new one.
func WritePacked(path string, value any) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".packed-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())                                 // nothing is there any more once it was renamed
	packed, _ := gzip.NewWriterLevel(file, gzip.BestCompression) // the level is one that there is
	err = errors.Join(json.NewEncoder(packed).Encode(value), packed.Close(), file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
