package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/schedule"
)

// plan is what all hosts together were told last. It is on disk before any of them hears of it: a controller that comes
// back knows what goes on without it, and what must come home.
type plan struct {
	Number uint64        `json:"number"`
	Issued time.Time     `json:"issued"`
	From   time.Time     `json:"from"`
	Until  time.Time     `json:"until"`
	Runs   []measure.Run `json:"runs"`  // by start; those before From were committed by the plan before. In the file: see write
	Hosts  []string      `json:"hosts"` // that were told

	Schedule schedule.State `json:"schedule"` // what the planner goes on from
}

// planFile is the name of the plan in the controller's folder: JSON lines, the first with all but the runs, and then each
// run, so that no more than a line of what may be 60 MB is ever in memory twice. It holds the secrets of runs, so others may
// not read it.
// steppedBack is how far before its plan's beginning a clock is that was set back, not only kept right.
const steppedBack = time.Minute

// ahead says that the clock was set back since the plan was made.
func (p *plan) ahead(now time.Time) bool { return now.Before(p.From.Add(-steppedBack)) }

const planFile = "plan.json"

// maxPlanLine bounds a document in the file: the first has the state of the planner, a bit for each pair that had its turn.
const maxPlanLine = 256 << 20

// readPlan returns the last plan; the zero one if there is none. Beside an error it is the zero one, too.
func readPlan(folder string) (plan, error) {
	f, err := os.Open(filepath.Join(folder, planFile))
	if errors.Is(err, fs.ErrNotExist) {
		return plan{}, nil
	} else if err != nil {
		return plan{}, fmt.Errorf("read last plan: %w", err)
	}
	defer f.Close()
	p := plan{}
	lines := document.NewStream(bufio.NewReaderSize(f, 1<<16), maxPlanLine)
	for err = lines.Next(&p); err == nil; {
		var r measure.Run
		if err = lines.Next(&r); err == nil {
			p.Runs = append(p.Runs, r)
		}
	}
	if !errors.Is(err, io.EOF) || p.Number == 0 {
		return plan{}, fmt.Errorf("read last plan: %w", err)
	}
	return p, nil
}

// write replaces the plan on disk, for good: hosts are told next.
func (p *plan) write(folder string) error {
	if err := durable.Replace(filepath.Join(folder, planFile), p.encode); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}

func (p *plan) encode(w io.Writer) error {
	head := *p
	head.Runs = nil
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(&head); err != nil {
		return err
	}
	for i := range p.Runs {
		if err := lines.Encode(&p.Runs[i]); err != nil {
			return err
		}
	}
	return nil
}
