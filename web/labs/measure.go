package labs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// How often a test that somebody watches says how it goes.
const (
	echoInterval = 200 * time.Millisecond
	rateInterval = 500 * time.Millisecond
)

// Measure is what Test has Program do on a host, as `lab measure KIND HOST`: a ping, or a transfer to who answers on a port. It
// writes a Line for each thing that happens, the Result last. Note, which may be nil, may add to the Result.
func Measure(ctx context.Context, out io.Writer, kind, host string, port int, d time.Duration, note func(*measure.Result)) error {
	lines := json.NewEncoder(out)
	var result *measure.Result
	var err error
	switch kind {
	case "ping":
		p := probe.Ping{Target: host, Count: max(1, int(d/echoInterval)), Interval: echoInterval}
		p.Progress = func(e measure.Echo) { _ = lines.Encode(Line{Echo: &e}) } // whoever does not read it ends this
		result, err = p.Do(ctx)
	case "throughput":
		p := probe.Throughput{Target: host, Port: port}
		p.Config.Proto, p.Config.Parallel, p.Config.Duration, p.Config.Interval = "tcp", 1, d, rateInterval
		p.OnInterval = func(i measure.Interval) { _ = lines.Encode(Line{Interval: &i}) }
		result, err = p.Do(ctx)
	default:
		return input.Errorf("%q: want ping or throughput", kind)
	}
	if err != nil {
		return err
	}
	if note != nil {
		note(result)
	}
	if err := lines.Encode(Line{Result: result}); err != nil {
		return fmt.Errorf("write outcome: %w", err)
	}
	return nil
}
