package probe

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// Do is a member of the group until all whom it hears have told everything, and returns a Result of kind "beacon".
func (p Beacon) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "beacon", p.withDefaults().Target, p.measure)
}

func (p Beacon) measure(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	p = p.withDefaults()
	result.Parameters, result.Target.Address = recorded(beaconFields(), &p), p.Group
	if from, err := sock.Source(netip.MustParseAddr(p.Group)); err == nil {
		result.Source.Address = from.String()
	}
	report, err := p.config().Run(ctx)
	if len(report.Members) == 0 {
		return fmt.Errorf("measure group %s: %w", p.Group, err)
	}
	result.Samples.Members, result.Samples.Pairs = groupSamples(&report)
	reduceGroup(result)
	switch untold := result.Metrics[measure.GroupUntold]; {
	case len(report.Members) == 1:
		result.Note("no other member of the group was heard: they run at the same time, and routers must forward the group between them")
	case untold > 0:
		result.Note(fmt.Sprintf("of %.0f pairs nothing is known: their receivers were not heard", untold))
	case !report.Complete:
		result.Note("some figures are not final: more probes may change what ends in ~")
	}
	if report.Unsent > 0 {
		result.Note(fmt.Sprintf("%d probes could not be sent and are not numbered", report.Unsent))
	}
	if report.Stepped != 0 {
		result.Note("this host's clock was set by " + quantity.FormatSeconds(report.Stepped.Seconds()) + " meanwhile: delays are wrong by as much")
	}
	if err != nil {
		return fmt.Errorf("measure group %s: %w", p.Group, err)
	}
	return nil
}
