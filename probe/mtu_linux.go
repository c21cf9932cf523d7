package probe

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Do finds the path MTU and returns a Result of kind "mtu". Samples.Hops are those that a packet one byte larger passes, as mtuNarrowing has them; there are none
// where this host itself sends no larger ones. A target that answers nothing is no error: there is no path_mtu_bytes then. reverse_path_mtu_bytes is there where
// the target can be asked for answers of a size; it is no larger than path_mtu_bytes, and where it is as large the way back may take more.
func (p MTU) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "mtu", p.Target, p.measure)
}

func (p MTU) measure(ctx context.Context, result *measure.Result) error {
	if err := p.Validate(); err != nil {
		return err
	}
	setDefault(&p.Timeout, mtuTimeout)
	result.Parameters = recorded(mtuFields(), &p)
	ways, err := waysTo(ctx, nil, p.Target, p.Family)
	if err != nil {
		return err
	}
	return tryWays(result, ways, func(w way, last bool) error {
		err := p.measureWay(ctx, w, result)
		if !last && isUnreachable(err) {
			return &unreachableError{err.Error()}
		}
		if ctx.Err() != nil { // whatever call it made fail
			err = context.Cause(ctx)
		}
		if err != nil {
			return fmt.Errorf("find MTU to %s: %w", p.Target, err)
		}
		return nil
	})
}

// open opens what the protocol of a trial is spoken by; nil: nobody listens there.
func (t mtuTrial) open(ctx context.Context, w way) (mtuWire, error) {
	switch t.proto {
	case protoICMP:
		return openMTUEcho(ctx, w)
	case protoSTAMP:
		return openMTUStamp(t.port)(ctx, w)
	}
	return openMTUSegments(t.port, t.opening)(ctx, w)
}

// measureWay measures by the first protocol that the target answers.
func (p MTU) measureWay(ctx context.Context, w way, result *measure.Result) error {
	trials := p.trials()
	var silent []string
	var failed error
	for _, t := range trials {
		answered, err := p.measureBy(ctx, t, w, result)
		if answered || ctx.Err() != nil || err != nil && !isPermission(err) {
			return err
		}
		if err != nil {
			failed = err
			continue
		}
		if t.port > 0 {
			silent = append(silent, fmt.Sprintf("%s at port %d", t.proto, t.port))
		} else {
			silent = append(silent, t.proto)
		}
	}
	if len(silent) == 0 {
		return failed
	}
	if failed != nil {
		result.Note(failed.Error())
	}
	result.Note("the target answers nothing by " + strings.Join(silent, ", ") + ", so no size is known to come through")
	return nil
}

// measureBy measures by one protocol; answered is false where the target answers nothing by it.
func (p MTU) measureBy(ctx context.Context, t mtuTrial, w way, result *measure.Result) (answered bool, err error) {
	search, err := newMTUSearch(w.to)
	if err != nil {
		return false, err
	}
	wire, err := t.open(ctx, w)
	if err != nil || wire == nil {
		return false, err
	}
	defer wire.close()
	defer context.AfterFunc(ctx, wire.interrupt)()
	search.least = max(search.least, wire.least())
	run := &mtuRun{wire: wire, wait: p.Timeout, timeout: p.Timeout}
	defer func() {
		result.Metrics[measure.SentPackets] += float64(len(run.sent))
		result.Metrics[measure.ReceivedPackets] += float64(run.answers)
	}()
	if answered, err = run.contact(search.least); err != nil || !answered {
		return false, err
	}
	search.passes = search.least
	result.Parameters["proto"] = t.proto
	if t.port > 0 {
		result.Parameters["port"] = t.port
	}
	if err = run.there(search, w, result); err == nil {
		err = run.back(search.passes, result)
	}
	return true, err
}

// there measures the way to the target, and finds the hop that narrows it.
func (r *mtuRun) there(s *mtuSearch, w way, result *measure.Result) error {
	for range mtuSearches {
		hops, again, err := r.step(s, mtuTTL, w.from, result)
		if err != nil {
			return err
		}
		if !again {
			result.Samples.Hops = hops
			return nil
		}
	}
	result.Note("larger packets come through at one time and not at another")
	return nil
}

// back measures the way back, by packets that are known to come there, where the target can be asked for answers of a size.
func (r *mtuRun) back(there int, result *measure.Result) error {
	socket, ok := r.wire.(*mtuSocket)
	if !ok || there == 0 {
		return nil
	}
	packets, ok := socket.mtuPackets.(*mtuStamps)
	switch {
	case !ok:
		return nil
	case !packets.obeyed:
		result.Note("answers are as long as what they answer, so the size is that of the narrower of both ways")
		return nil
	}
	packets.back = there
	s := &mtuSearch{least: packets.least(), most: there, passes: packets.least()}
	err := r.search(s, mtuTTL)
	if err == nil && s.passes > 0 {
		result.Metrics[measure.ReversePathMTU] = float64(s.passes)
	}
	return err
}

// newMTUSearch begins with what the interface takes. Where the kernel has learnt of a smaller MTU that is tried, and all between.
func newMTUSearch(to netip.Addr) (*mtuSearch, error) {
	most, learnt, err := sock.RouteMTU(to)
	s := &mtuSearch{least: 68, most: most} // RFC 791
	if sock.FamilyOf(to) == sock.IPv6 {
		s.least = 1280 // RFC 8200 section 5
	}
	if learnt {
		s.told, s.most = most, mostPacket
	}
	s.most = min(s.most, mostPacket)
	return s, err
}

// mostPacket is the largest packet that IP has a length for, in bytes.
const mostPacket = 65535
