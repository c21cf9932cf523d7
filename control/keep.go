package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

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
	Runs   []measure.Run `json:"runs"`  // by start; those before From were committed by the plan before
	Hosts  []string      `json:"hosts"` // that were told

	Schedule schedule.State `json:"schedule"` // what the planner goes on from
}

// planFile is the name of the plan in the controller's folder. It holds the secrets of runs, so others may not read it.
const planFile = "plan.json"

// readPlan returns the last plan; the zero one if there is none, or if it cannot be read, which costs no more than that
// runs under way are not known.
func readPlan(folder string) (plan, error) {
	text, err := os.ReadFile(filepath.Join(folder, planFile))
	if errors.Is(err, fs.ErrNotExist) {
		return plan{}, nil
	} else if err != nil {
		return plan{}, fmt.Errorf("read last plan: %w", err)
	}
	var p plan
	if json.Unmarshal(text, &p) != nil {
		return plan{}, nil
	}
	return p, nil
}

// write replaces the plan on disk as a whole.
func (p *plan) write(folder string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	path := filepath.Join(folder, planFile)
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}
