package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/measure"
)

const (
	// ratesDays is how far back the highest rate of a tool is looked for. A week has a network's quiet hours and its weekend, and
	// several runs of a test that runs once a day: one slow run, or a slow day, does not shorten those that follow.
	ratesDays = 7
	// ratesEvery is how often rates are looked up: what is seldom measured more often is not planned otherwise within the hour.
	ratesEvery = time.Hour
	// ratesRetry is how soon they are looked up again if the archive does not answer, or the disk does not take them.
	ratesRetry = time.Minute
	// sameRate is the share by which a rate may differ from the last one and still count as the same. Runs over one path differ
	// by about as much, and a rate that counts as another one makes a new plan necessary.
	sameRate = 0.1
)

// Rates are what tools carried lately between hosts, as a controller found it in its archive: what checks, plans and runs go by.
// They are never changed, only replaced.
type Rates struct {
	of map[carried]float64 // payload in bit/s
}

// carried is what a rate is of: a tool, and the names of the hosts from which and to which its data went.
type carried struct {
	Tool   string `json:"tool"`
	Source string `json:"source"`
	Target string `json:"target"`
}

// Among tells rates by the hosts of a mesh. Those of nil know nothing.
func (r *Rates) Among(m *config.Mesh) config.Measured {
	if r == nil {
		return nil
	}
	return func(tool string, source, target int) float64 {
		return r.of[carried{tool, m.Hosts[source].Name, m.Hosts[target].Name}]
	}
}

// renewed returns these rates with what is new in others: r itself, if nothing is.
func (r *Rates) renewed(fresh map[carried]float64) *Rates {
	same := len(fresh) == len(r.of)
	for key, rate := range fresh {
		old, known := r.of[key]
		if known && rate <= old*(1+sameRate) && rate >= old*(1-sameRate) {
			fresh[key] = old
		} else {
			same = false
		}
	}
	if same {
		return r
	}
	return &Rates{fresh}
}

// ratesOf looks up the highest rate at which each tool that moves data did so between each two hosts, in runs of the plan.
func (c *Control) ratesOf(ctx context.Context, m *config.Mesh) (map[carried]float64, error) {
	to := c.config.Now().UTC().Truncate(time.Hour).Add(time.Hour) // of whole hours and days the archive reads least
	from := to.Truncate(24*time.Hour).AddDate(0, 0, -ratesDays)
	found := map[carried]float64{}
	for i := range m.Tools {
		tool := &m.Tools[i]
		if tool.Kind != "throughput" && tool.Kind != config.KindCommand {
			continue
		}
		series := archive.Key{Tool: tool.Name, Role: measure.RolePlanned, Metric: measure.Throughput}
		cells, err := c.config.Archive.Matrix(ctx, archive.MatrixQuery{Match: series.Exactly(), From: from, To: to})
		if err != nil {
			return nil, fmt.Errorf("look up rates of %s: %w", tool.Name, err)
		}
		for _, cell := range cells {
			found[carried{tool.Name, cell.Source, cell.Target}] = cell.Max
		}
	}
	return found, nil
}

// refreshRates looks rates up if it is time to, and keeps them. After an error, such as of a full disk, it is time again soon.
func (c *Control) refreshRates(ctx context.Context) error {
	m, now := c.Mesh(), c.config.Now()
	c.mu.Lock()
	next, kept, due := c.rates, c.keptRates, !now.Before(c.ratesDue)
	c.mu.Unlock()
	if !due {
		return nil
	}
	found, err := c.ratesOf(ctx, m)
	if err == nil {
		next = next.renewed(found)
	}
	if err == nil && next != kept {
		err = next.write(c.config.Data)
	}
	again := now.Add(ratesRetry)
	if err == nil {
		kept, again = next, now.Add(ratesEvery)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rates, c.keptRates, c.ratesDue = next, kept, again
	return err
}

// Rates returns what the controller goes by now.
func (c *Control) Rates() *Rates {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rates
}

// planRates are the rates that the plan of a mesh goes by; nil where no day's bytes are limited, since nothing hangs on them then.
// c.mu is held.
func (c *Control) planRates(m *config.Mesh) *Rates {
	if !m.Daily() {
		return nil
	}
	return c.rates
}

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
