package agent

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Why a run did not come to its end.
var (
	errStopped   = errors.New("the agent was stopped while it ran")
	errCancelled = errors.New("cancelled by the controller")
	errLimit     = errors.New("ended at its limit")
)

// label says whose run a Result is of.
func label(r *measure.Result, run *measure.Run) *measure.Result {
	r.ID, r.Test, r.Tool, r.Role = run.ID, run.Test, run.Tool, cmp.Or(run.Role, measure.RoleOf(run.Test))
	r.Way = cmp.Or(r.Way, measure.WayOf(run.Task.Kind, run.Task.Parameters))
	r.Source.Name, r.Target.Name = run.Source, run.Target
	return r
}

// failed is the Result of a run that did not begin, or of which nothing is left.
func failed(run *measure.Run, err error) *measure.Result {
	r := measure.NewResult(run.Task.Kind, run.Start)
	r.Target.Address = run.Task.Target
	r.Clock = clock()
	r.Fail(err)
	return label(r, run)
}

// missed is why a run did not begin within its slot.
func missed(run *measure.Run, now time.Time, why string) error {
	late := now.Sub(run.Start).Round(100 * time.Millisecond)
	return fmt.Errorf("missed: %v after its start, beyond its slot of %gs: %s", late, run.SlotSeconds, why)
}

func clock() measure.Clock {
	return measure.NewClock(sock.ClockQuality())
}

// moved is how many bytes a run took of the host's link, both ways: as its Result says, else as it was reckoned.
func moved(r *measure.Result, demand measure.Demand) int64 {
	bytes, known := r.Moved()
	if !known {
		bytes = demand.Bytes
	}
	return int64(bytes)
}
