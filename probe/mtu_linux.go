package probe

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

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
	run := &mtuRun{wire: wire, wait: p.Timeout, timeout: p.Timeout, seeker: narrowingSeeker{p.BackPort, p.Secret}}
	defer run.count(result)
	if answered, err = run.contact(search.least); err != nil || !answered {
		return false, err
	}
	search.passes = search.least
	result.Parameters["proto"] = t.proto
	if t.port > 0 {
		result.Parameters["port"] = t.port
	}
	if err = run.there(search, w, result); err != nil {
		return true, err
	}
	if t.proto == protoICMP && p.Proto != protoICMP && silentlyNarrowed(result.Samples.Hops) {
		return true, p.apart(ctx, search, run.wait, w, result)
	}
	return true, run.back(ctx, search.passes, w, result)
}

// count adds the packets of a run to those of a Result.
func (r *mtuRun) count(result *measure.Result) {
	result.Metrics[measure.SentPackets] += float64(len(r.sent))
	result.Metrics[measure.ReceivedPackets] += float64(r.answers)
}

// silentlyNarrowed says that packets which are too large vanish, by hops as mtuNarrowing returns them: on the way there, or their answers on the way back.
func silentlyNarrowed(hops []measure.Hop) bool {
	return len(hops) > 0 && hops[len(hops)-1].Reply == mtuSilence
}

// apart measures both ways apart once echoes, which come back as large as they went, vanish, if the target has a reflector that answers by as few bytes as it is asked to.
func (p MTU) apart(ctx context.Context, s *mtuSearch, wait time.Duration, w way, result *measure.Result) error {
	run, port, err := reflected(ctx, w, wait, p.Timeout)
	if run == nil {
		return err
	}
	defer run.wire.close()
	defer context.AfterFunc(ctx, run.wire.interrupt)()
	defer run.count(result)
	result.Parameters["proto"], result.Parameters["port"] = protoSTAMP, port
	both := s.passes
	s = &mtuSearch{least: max(s.least, run.wire.least()), most: s.most, passes: max(both, run.wire.least()), told: both}
	if err := run.there(s, w, result); err != nil {
		return err
	}
	return run.back(ctx, s.passes, w, result)
}

// reflected is a run by STAMP to a reflector that answers within a time, and by as few bytes as it is asked to, and its port; nil: there is none.
func reflected(ctx context.Context, w way, wait, timeout time.Duration) (run *mtuRun, port int, err error) {
	for _, port := range mtuPorts[protoSTAMP] {
		wire, err := openMTUStamp(port)(ctx, w)
		if err != nil {
			return nil, 0, err
		}
		run := &mtuRun{wire: wire, wait: wait, timeout: wait}
		stop := context.AfterFunc(ctx, wire.interrupt)
		answered, err := run.contact(wire.least())
		stop()
		if run.timeout = timeout; answered && err == nil && run.stamps().obeyed {
			return run, port, nil
		}
		wire.close()
		if err != nil {
			return nil, 0, err
		}
	}
	return nil, 0, nil
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

// stamps are the packets of a run by STAMP; nil: it is by another protocol.
func (r *mtuRun) stamps() *mtuStamps {
	socket, ok := r.wire.(*mtuSocket)
	if !ok {
		return nil
	}
	packets, _ := socket.mtuPackets.(*mtuStamps)
	return packets
}

// back measures the way back, by packets that are known to come there, where the target can be asked for answers of a size. Where larger ones do not come back,
// `pathwise respond` at the target is asked behind which hop.
func (r *mtuRun) back(ctx context.Context, there int, w way, result *measure.Result) error {
	packets := r.stamps()
	switch {
	case packets == nil || there == 0:
		return nil
	case !packets.obeyed:
		result.Note("answers are as long as what they answer, so the size is that of the narrower of both ways")
		return nil
	}
	packets.back = there
	s := &mtuSearch{least: packets.least(), most: there, passes: packets.least()}
	err := r.search(s, mtuTTL)
	if err != nil || s.passes == 0 {
		return err
	}
	result.Metrics[measure.ReversePathMTU] = float64(s.passes)
	if s.passes == there {
		return nil
	}
	n, err := r.seeker.ask(ctx, w.to, s.passes, r.wait)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		result.Note("behind which hop larger packets vanish on the way back is not known: " + err.Error())
	case n == nil:
		result.Note("echoes of the far end that are larger than what came back come here, so their way back is another one")
	}
	result.Samples.BackNarrows = n
	return nil
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
