package diagnose

import "github.com/pathwise-net/pathwise/measure"

// FullLosses is how many packets a transfer sent again for losses that began while the path was full: what slow start makes any queue
// lose, and what no short queue and no bad link is to blame for.
const FullLosses Name = "losses_of_a_full_path"

// lossEpisode is a time in which a sender mends losses: from the first packet that it sends again until all that was under way then has
// arrived.
type lossEpisode struct {
	packets float64 // that were sent again
	window  float64 // in packets, before the first loss, at the least
	trip    float64 // round trip about the first loss, in seconds
}

// recovery is the least of the kernel's congestion states in which a sender mends losses: 3 Recovery, 4 Loss (net/tcp.h).
const recovery = 3

// episodesOf are the episodes that readings of a sender show. What lies between two readings is one episode.
func episodesOf(all []measure.TCPSample) (found []lossEpisode) {
	for i := 1; i < len(all); i++ {
		before, now := all[i-1].Values, all[i].Values
		again := now["total_retrans_packets"] - before["total_retrans_packets"]
		mending := before["ca_state"] >= recovery
		switch {
		case again <= 0:
		case mending && len(found) > 0:
			found[len(found)-1].packets += again
		default:
			found = append(found, lossEpisode{
				packets: again,
				window:  max(before["snd_cwnd_packets"], now["snd_ssthresh_packets"]),
				trip:    max(before["rtt_seconds"], now["rtt_seconds"]),
			})
		}
	}
	return found
}

// fullFrom is the share of what a path holds from which on, with a queue, it is taken for full. The window is that at the reading before
// the loss, and slow start doubles it each round trip.
const fullFrom = 0.5

// deriveFullLosses counts the losses that began while a queue stood and at least about as much was under way as the path holds.
func deriveFullLosses(s *Subject) {
	least, mss := s.Value(EmptyRoundTrip), s.Value(MSS)
	if !s.Known(Capacity) || mss == 0 || !s.watched {
		return
	}
	holds, full := s.Value(Capacity)*least/8/mss, 0.0
	for _, e := range s.episodes {
		queue := e.trip > queueStands*least && e.trip-least > leastQueue
		if queue && e.window >= fullFrom*holds {
			full += e.packets
		}
	}
	s.set(FullLosses, exactly(full, nil))
}

// lossesApart is how many packets a transfer sent again for other losses than those of a full path.
func lossesApart(s *Subject) float64 { return max(0, s.Value(Retransmits)-s.Value(FullLosses)) }

// mostlyFull reports whether most of what a transfer lost, it lost because it filled the path.
func mostlyFull(s *Subject) bool {
	return lossesApart(s) < enoughLosses || s.Value(FullLosses) > s.Value(Retransmits)/2
}

// losesWithoutQueue reports whether TCP loses packets although no queue stands, and a probe on the nearly empty path does not.
func losesWithoutQueue(s *Subject) bool {
	return state(s) == Slow && s.Value(Retransmits) >= enoughLosses && s.Known(PacedLoss) && !pacedKeeps(s, lossRatio(s)) && !tripsGrow(s)
}

// packetsTake is what packets of full size take longer than small pings, in seconds, without any queue: each takes its time on the narrowest
// link, and some come together.
func packetsTake(s *Subject) float64 {
	carries := max(s.Value(Capacity), s.Value(Steady))
	if carries == 0 {
		return 0
	}
	return packetsTogether * s.Value(MSS) * 8 / carries
}

// packetsTogether is how many packets TCP sends at once when it has little under way: two for each acknowledgement, and one more as its
// window grows, of two acknowledgements that come together.
const packetsTogether = 5

// evenlyLost are the packets that probes sent evenly, at a tenth of the capacity and at half of it, and how many of them were lost.
func evenlyLost(s *Subject) (sent, lost float64) {
	return s.Value(PacedSent) + s.Value(HalfSent), s.Value(PacedLost) + s.Value(HalfLoss)*s.Value(HalfSent)
}

// losesOnlyBursts reports whether packets that were sent evenly would have met losses as frequent as TCP's, and met fewer: the slow ones
// alone, or all together. Packets that are lost in one run are one loss.
func losesOnlyBursts(s *Subject) bool {
	p, run := lossRatio(s), max(1, s.Value(LossPeriod), s.Value(HalfPeriod))
	sent, lost := evenlyLost(s)
	return rarer(s.Value(PacedLost)/run, p*s.Value(PacedSent)/run) || rarer(lost/run, p*sent/run)
}

// rarer reports whether losses are fewer than so many that are expected by more than chance, as pacedKeeps has it. Of few that are expected,
// none need be met.
func rarer(lost, expected float64) bool {
	return expected >= leastExpected && lost < max(1, poissonLow(expected))
}

// leastExpected is how many losses a probe must expect to meet for it to mean something that it meets none: then that is an accident
// once in 20.
const leastExpected = 3
