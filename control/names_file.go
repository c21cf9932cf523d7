package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
)

// namesFile is the name of the file of names in the controller's folder.
const namesFile = "names.json"

// maxNames bounds the file: mostNames of the longest names.
const maxNames = 8 << 20

// namesDocument is the names on disk.
type namesDocument struct {
	Schema string          `json:"schema"`
	Names  map[string]name `json:"names"` // by address
}

const namesSchema = "pathwise.names/1"

func (n *names) write(folder string) error {
	n.mu.Lock()
	text, err := json.Marshal(namesDocument{namesSchema, n.known})
	n.mu.Unlock()
	if err == nil {
		err = durable.Write(filepath.Join(folder, namesFile), text)
	}
	if err != nil {
		return fmt.Errorf("keep names: %w", err)
	}
	return nil
}

// read takes what a controller left in its folder, if it did. After an error nothing is known, and all is looked up anew.
func (n *names) read(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, namesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var all namesDocument
	if err == nil {
		err = document.JSON(text, maxNames, &all)
	}
	if err == nil && all.Schema != namesSchema {
		err = fmt.Errorf("schema is %q, not %q", all.Schema, namesSchema)
	}
	if err != nil {
		return fmt.Errorf("read names: %w", err)
	}
	for address, one := range all.Names {
		if printable(one.Name) {
			n.known[address] = one
		}
	}
	return nil
}
