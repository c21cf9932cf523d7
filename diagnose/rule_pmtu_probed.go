package diagnose

import (
	"fmt"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
)

// AckedBefore is how much was acknowledged before the sender's kernel went over to smaller packets, in bytes.
const AckedBefore Name = "acknowledged_before_smaller"

// pmtuProbed: the same black hole, where the sender's kernel searches for a size that passes once a connection has been silent (tcp_mtu_probing 1; RFC 4821): no
// packet of the first size arrived, smaller ones do, and nobody told the kernel of a link that takes less.
//
//	payload  1448 |# # #  #    #        (each is lost; the timer doubles)
//	         1024 |                     ################### arrive
//	              +---- silence -------+---- the transfer ----> time
var pmtuProbed = Rule{
	ID:    pmtuBlackhole.ID,
	Of:    OfWay,
	In:    []State{Slow, Full},
	Needs: []Name{MSS, OpeningMSS, KernelMTU, AckedBefore, TransferSilence, Steady},
	Reads: []Name{Retransmits},
	Brings: []definition{{Name: AckedBefore, Metric: "bytes_acked", Unit: "bytes", Means: "acknowledged before the kernel of the sender went over to smaller packets",
		From: ofTransfer, Read: readAckedBefore}},
	Apart:    map[string]Name{"small-mss": OpeningMSS, "outage": AckedBefore},
	Replaces: []string{smallMSS.ID, outage.ID},
	Look: func(s *Subject) *Claim {
		if !mssFell(s) || s.Value(OpeningMSS) > kernelCarries(s)+mostOptions || s.Value(AckedBefore) >= s.Value(OpeningMSS) {
			return nil
		}
		passes := s.Value(MSS) + s.ipHeader() + model.TCPHeader + model.TCPTimestamps
		c := &Claim{
			Where: OnPath, Confidence: 0.85,
			Evidence: []Name{OpeningMSS, MSS, AckedBefore, TransferSilence, KernelMTU, Retransmits, Steady},
			Says:     []string{"probed"}, Advice: []string{"probing", "clamp", "icmp"},
			Words:  map[string]string{"mtu": fmt.Sprintf("%.0f", passes), "clamp": fmt.Sprintf("%.0f", passes-s.ipHeader()-model.TCPHeader)},
			Allows: s.Value(Steady), Unpredicted: true, // the silence before depends on timers
			Beyond: true, // each new connection meets it
		}
		if s.Address != "" {
			c.Advice = append([]string{"route"}, c.Advice...)
		}
		return c
	},
}

// readAckedBefore reads how much the other end had acknowledged when the sender's kernel was first seen to send smaller packets than at first.
func readAckedBefore(s *Subject, r *measure.Result) (float64, bool) {
	all := samples(s, r, measure.Sender)
	if _, chosen := r.Number("mss"); chosen || len(all) == 0 {
		return 0, false
	}
	for _, one := range all {
		if mss := one.Values["snd_mss_bytes"]; mss > 0 && mss+mostOptions < all[0].Values["snd_mss_bytes"] {
			return one.Get("bytes_acked")
		}
	}
	return 0, false
}
