package diagnose

import (
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

const (
	AskedMSS   Name = "asked_mss"   // that the receiver asked for
	OpeningMSS Name = "opening_mss" // with which the connection began
	KernelMTU  Name = "kernel_mtu"  // of the path, as the sender's kernel knows it
	LowMSSHop  Name = "low_mss_hop" // the first that SYNs reach with another MSS than they left with
)

// smallMSS: packets are much smaller than those of Ethernet, so that headers and each loss cost more. Where the receiver asked for larger ones, and the sender knows of no
// link that takes none, something on the way lowered what was asked for.
var smallMSS = Rule{
	ID:    "small-mss",
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{MSS, Steady},
	Reads: []Name{AskedMSS, OpeningMSS, KernelMTU, LowMSSHop},
	Brings: []definition{
		{Name: AskedMSS, Metric: "advmss_bytes", Unit: "bytes", Means: "payload of the packets that the receiver asked for", From: ofTransfer, Read: lastSaid(measure.Receiver, "advmss_bytes")},
		{Name: OpeningMSS, Metric: "snd_mss_bytes", Unit: "bytes", Means: "payload of the packets that the connection began with", From: ofTransfer,
			Read: firstSaid(measure.Sender, "snd_mss_bytes")},
		{Name: KernelMTU, Metric: "pmtu_bytes", Unit: "bytes", Means: "size of the packets that the path carries, as the sender's kernel knows", From: ofTransfer,
			Read: lastSaid(measure.Sender, "pmtu_bytes")},
		{Name: LowMSSHop, Metric: "hop", Unit: "hop", Means: "the first that SYNs reach with another MSS than they left with", Step: quotedSYNs, From: ofSYNs, Read: changedAt(synMSS)},
	},
	Suspect: func(s *Subject) bool { return s.Value(MSS) < leastMSS && mssLowered(s) },
	Look: func(s *Subject) *Claim {
		if s.Value(MSS) >= leastMSS {
			return nil
		}
		c := &Claim{
			Severity: measure.Warning, Where: OnPath, Confidence: 0.9,
			Evidence: []Name{MSS, Steady, ResentShare},
			Advice:   []string{"mtu"},
			Allows:   s.Value(Steady), Unpredicted: true,
		}
		if mssLowered(s) {
			c.Says, c.Advice, c.Evidence = []string{"main", "lowered"}, []string{"clamp"}, append(c.Evidence, AskedMSS, KernelMTU)
			s.tellWho(c, synMSS, LowMSSHop)
		}
		return c
	},
}

// leastMSS is what a packet of IPv6's least MTU (RFC 8200 section 5) carries: 1,280 bytes less 40 of IPv6, 20 of TCP and 12 of time
// stamps. Tunnels leave more.
const leastMSS = 1208

// mssLowered says that the connection sends smaller packets than the receiver asked for and the sender knows the path to carry, by more than options take, and
// did so from its beginning. What a kernel changes later, or begins its own search for the size with, nothing on the way has lowered.
func mssLowered(s *Subject) bool {
	if s.Known(OpeningMSS) && (mssFell(s) || s.Value(MSS) > s.Value(OpeningMSS) || s.Value(OpeningMSS) == searchedMSS) {
		return false
	}
	return s.Known(AskedMSS) && s.Known(KernelMTU) && s.Value(MSS)+mostOptions < min(s.Value(AskedMSS), kernelCarries(s))
}

// mssFell says that the connection began with larger packets than it sends now, by more than options take.
func mssFell(s *Subject) bool {
	return s.Known(OpeningMSS) && s.Value(MSS)+mostOptions < s.Value(OpeningMSS)
}

// kernelCarries is the payload of the packets that the sender's kernel knows the path to carry.
func kernelCarries(s *Subject) float64 {
	return s.Value(KernelMTU) - s.ipHeader() - model.TCPHeader - model.TCPTimestamps
}

// searchedMSS is what Linux begins with where it searches for the size by itself from the start: tcp_mtu_probing 2, tcp_base_mss as it is.
const searchedMSS = 1024

// mostOptions are the bytes that options of TCP take at the most (RFC 9293 section 3.1).
const mostOptions = 40

// lastSaid reads what the kernel of an end said last of a transfer's connection, whose program did not choose the MSS.
func lastSaid(end, field string) func(*Subject, *measure.Result) (float64, bool) {
	return said(end, field, func(all []measure.TCPSample) measure.TCPSample { return all[len(all)-1] })
}

// firstSaid reads what it said first.
func firstSaid(end, field string) func(*Subject, *measure.Result) (float64, bool) {
	return said(end, field, func(all []measure.TCPSample) measure.TCPSample { return all[0] })
}

func said(end, field string, which func([]measure.TCPSample) measure.TCPSample) func(*Subject, *measure.Result) (float64, bool) {
	return func(s *Subject, r *measure.Result) (float64, bool) {
		all := samples(s, r, end)
		if _, chosen := r.Number("mss"); chosen || len(all) == 0 {
			return 0, false
		}
		value, told := which(all).Get(field)
		return value, told && value > 0
	}
}
