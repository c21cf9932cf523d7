package main

import (
	"net/netip"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/measure"
)

// readReference returns what `pathwise host --reference` found this host to carry, as a Result; nil where it found nothing, or of another host
// than this one is now, which the note says.
func readReference(to netip.Addr) (r *measure.Result, note string) {
	const unused = "the reference of this host is not used: "
	path, err := host.ReferencePath()
	if err != nil {
		return nil, "" // who has no home has no reference
	}
	kept, err := host.ReadReference(path)
	if err != nil {
		return nil, unused + err.Error()
	}
	if kept == nil {
		return nil, ""
	}
	if why := staleness(kept, to); why != "" {
		return nil, unused + why + "; pathwise host --reference HOST makes another"
	}
	r = measure.NewResult(diagnose.KindReference, kept.Made)
	r.Source.Name, r.Target.Name, r.Target.Address = kept.Self.Name, kept.Peer, kept.PeerAddress.String()
	r.Parameters["kernel"], r.Parameters["interface"] = kept.Self.Kernel, kept.Self.Interface
	if run, is := kept.Ceiling(true); is {
		r.Metrics[measure.Throughput], r.Metrics[measure.CPUSender] = run.Rate, run.Busy()
	}
	if run, is := kept.Ceiling(false); is {
		r.Metrics[measure.ReverseThroughput], r.Metrics[measure.CPUReceiver] = run.Rate, run.Busy()
	}
	return r, ""
}
