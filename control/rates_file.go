package control

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
)

// ratesFile is the name of the rates in the controller's folder.
const ratesFile = "rates.json"

// maxRates bounds the file: 600,000 lines, of 200 hosts and 15 tools.
const maxRates = 64 << 20

// ratesDocument is the rates on disk.
type ratesDocument struct {
	Schema string     `json:"schema"`
	Rates  []rateLine `json:"rates"`
}

type rateLine struct {
	carried
	BitsPerSecond float64 `json:"bits_per_second"`
}

const ratesSchema = "pathwise.rates/1"

func (r *Rates) write(folder string) error {
	all := ratesDocument{Schema: ratesSchema, Rates: []rateLine{}}
	for key, rate := range r.of {
		all.Rates = append(all.Rates, rateLine{key, rate})
	}
	slices.SortFunc(all.Rates, func(a, b rateLine) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
	})
	text, err := json.Marshal(all)
	if err == nil {
		err = durable.Write(filepath.Join(folder, ratesFile), text)
	}
	if err != nil {
		return fmt.Errorf("keep rates: %w", err)
	}
	return nil
}

// ReadRates returns the rates that a controller keeps in its folder, which may have none. Beside an error there are none, too.
func ReadRates(folder string) (*Rates, error) {
	r := &Rates{of: map[carried]float64{}}
	text, err := os.ReadFile(filepath.Join(folder, ratesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	var all ratesDocument
	if err == nil {
		err = document.JSON(text, maxRates, &all)
	}
	if err == nil && all.Schema != ratesSchema {
		err = fmt.Errorf("schema is %q, not %q", all.Schema, ratesSchema)
	}
	if err != nil {
		return r, fmt.Errorf("read rates: %w", err)
	}
	for _, line := range all.Rates {
		if line.BitsPerSecond > 0 {
			r.of[line.carried] = line.BitsPerSecond
		}
	}
	return r, nil
}
