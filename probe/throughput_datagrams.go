package probe

import (
	"fmt"
	"maps"
	"net/netip"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// addDatagrams adds what became of the datagrams of a way, and says what of it is the hosts' doing and not the path's.
func addDatagrams(r *measure.Result, way string, total iperf3.Totals) {
	maps.Copy(r.Metrics, datagramFates(total).metrics())
	r.Metrics[measure.ReorderedPackets] = float64(total.Reordered)
	r.Metrics[measure.Jitter] = total.Jitter
	sender, receiver := total.Ends[0], total.Ends[1]
	r.Parameters["offload"] = sender.Together > 1
	if sender.Known {
		r.Metrics[measure.SenderDropped] = float64(sender.HostLost)
	}
	if receiver.Known {
		r.Metrics[measure.DuplicatePackets] = float64(total.Duplicates)
		r.Metrics[measure.ReceiverDropped] = float64(receiver.HostLost)
		r.Metrics[measure.FragmentedPackets] = float64(receiver.Fragmented)
	}
	if receiver.PDV > 0 {
		r.Metrics[measure.IPDVP95(way)], r.Metrics[measure.PDVP95(way)] = receiver.IPDV, receiver.PDV
	}
	noteHostLosses(r, total)
	noteFragments(r, sender, receiver)
	if sender.Together > 1 && receiver.Together > 1 {
		r.Note(fmt.Sprintf("up to %d datagrams went to the kernel in one piece and up to %d came from it in one: between virtual interfaces they are never cut "+
			"apart, so that the rate is not what as many packets would reach", sender.Together, receiver.Together))
	}
}

// noteHostLosses says which of the lost datagrams a host lost.
func noteHostLosses(r *measure.Result, total iperf3.Totals) {
	if n := total.Ends[0].HostLost; n > 0 {
		r.Note(fmt.Sprintf("%d of the %d lost datagrams never left the sending host, whose interface had no room for them: its loss, not the path's", n, total.Lost))
	}
	if n := total.Ends[1].HostLost; n > 0 {
		r.Note(fmt.Sprintf("%d of the %d lost datagrams had arrived and were dropped by the receiving host, as its program did not take them in time: its loss, "+
			"not the path's (see net.core.rmem_max)", n, total.Lost))
	}
}

// noteFragments says that datagrams are larger than the path carries in one packet.
func noteFragments(r *measure.Result, sender, receiver iperf3.UDPEnd) {
	length, _ := r.Parameters["length"].(float64)
	target, err := netip.ParseAddr(r.Target.Address)
	if err != nil {
		return
	}
	pieces := fragments(int(length), ipHeader(target), sender.PathMTU)
	switch {
	case pieces > 1:
		r.Note(fmt.Sprintf("datagrams of %.0f bytes go out in %d fragments each, as the largest packet to there is %d bytes: one lost fragment loses the datagram",
			length, pieces, sender.PathMTU))
	case receiver.Fragmented > 0:
		r.Note(fmt.Sprintf("%d datagrams came in fragments of at most %d bytes: something on the way cut them, and one lost fragment loses a datagram",
			receiver.Fragmented, receiver.Fragment))
	}
}

// fragments is in how many packets a datagram of so many bytes goes out, behind an IP header of so many (RFC 791 section 3.2: all but the last of a multiple
// of 8 bytes); 1 where the largest packet is not known.
func fragments(length, header, mtu int) int {
	const extension = 8 // bytes: the fragment header of IPv6 (RFC 8200 section 4.5)
	whole := length + udpHeader
	if mtu <= header+extension+8 || header+whole <= mtu {
		return 1
	}
	room := mtu - header
	if header == model.IPv6Header {
		room -= extension
	}
	each := room &^ 7
	return 1 + (whole-room+each-1)/each
}
