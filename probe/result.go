package probe

import (
	"os"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// newResult starts the Result of a measurement that this host makes of a target, now.
func newResult(kind, target string) *measure.Result {
	r := measure.NewResult(kind, time.Now())
	r.Source.Name, _ = os.Hostname() // a host without a name still has its address
	r.Target.Name = target
	r.Clock = measure.NewClock(sock.ClockQuality())
	return r
}
