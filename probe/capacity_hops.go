package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/analysis/hops"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/sock"
)

// With Hops, Capacity sends UDP packets of several sizes that expire at each hop in turn, and tells from how the shortest round trips grow with size what each
// link carries: package analysis/hops. Nothing has to run at the target. Hops answer by ICMP, the target "port unreachable"; as root the target is asked
// by SYNs that carry bytes instead, whose answers no host limits.

const (
	hopsFor      = 8 * time.Second        // what rounds take at most, without the survey of the route
	hopsSurvey   = 4 * time.Second        // that, for a route some of whose hops are silent
	hopsTTL      = 30                     // as traceroute has it
	hopsPort     = 33434                  // as traceroute begins with, and firewalls expect it
	hopsLargest  = 1500                   // bytes: what paths across networks carry as a rule
	hopsTimeout  = time.Second            // the longest wait for an answer
	hopsMinWait  = 200 * time.Millisecond // the shortest, for a hop that takes its time
	hopsWaitTrip = 3                      // times the longest round trip so far is waited for one
)

// checkHops says what does not go together with Hops.
func (p *Capacity) checkHops() error {
	other := ""
	switch {
	case !p.Hops:
		return nil
	case p.Reverse:
		other = "reverse"
	case p.Light:
		other = "light"
	case p.Brief:
		other = "brief"
	case p.Length != 0:
		other = "length"
	case p.Small != 0:
		other = "small"
	default:
		return nil
	}
	return &input.Error{Field: "hops", Value: strconv.FormatBool(p.Hops), Remedy: "leave out " + other + ": hops are those of the way to the target, by packets of several sizes"}
}

// hopsDemand is what a measurement takes that no link lets end early.
func (p *Capacity) hopsDemand() measure.Demand {
	return measure.Demand{DurationSeconds: (hopsFor + hopsSurvey).Seconds(), Exclusive: true,
		Bytes: (hopsLargest + model.EthernetFraming) * hopsFor.Seconds() / hops.LeastSpacing}
}

// measureHops measures over the first way that leads to the target.
func (p *Capacity) measureHops(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	setDefault(&p.Port, hopsPort)
	p.Available = false // the command line sets it where nobody said so
	result.Parameters = recorded(capacityFields(), p)
	result.Way = measure.WayOf(result.Kind, result.Parameters)
	ways, err := waysTo(ctx, nil, p.Target, p.Family)
	if err != nil {
		return err
	}
	until := time.Now().Add(hopsFor + hopsSurvey)
	return tryWays(result, ways, func(w way, last bool) error { return p.hopsOver(ctx, w, last, until, result) })
}

// hopsOver measures to one address of the target, until a moment at most. Where nothing on the way answers, another is to be tried.
func (p *Capacity) hopsOver(ctx context.Context, w way, last bool, until time.Time, result *measure.Result) error {
	run, err := newHopsRun(p, w)
	if err != nil {
		return err
	}
	defer run.close()
	defer context.AfterFunc(ctx, run.interrupt)()
	err = run.do(ctx, until)
	links := run.study.Links()
	if !last && ctx.Err() == nil && len(links) == 0 {
		return &unreachableError{"no hop on the way answers"}
	}
	run.report(links, result)
	switch {
	case ctx.Err() != nil: // whatever call it made fail
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("measure hops to %s: %w", p.Target, err)
	case len(links) == 0:
		return errors.New("no hop on the way answers packets that expire there")
	}
	return nil
}

// newStudy is one of the route to an address.
func newStudy(to netip.Addr) hops.Study {
	largest := hopsLargest
	if mtu, _, err := sock.RouteMTU(to); err == nil {
		largest = min(largest, mtu)
	}
	return hops.Study{Largest: largest, IPv6: to.Is6(), MostTTL: hopsTTL, Seconds: hopsFor.Seconds(), Random: rand.New(rand.NewPCG(rand.Uint64(), 1))}
}
