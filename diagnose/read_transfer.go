package diagnose

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/stat"
)

// settled is the part of a test, from its start, that is left out of what is meant to be steady: slow start and the
// first losses take 1 to 2 s of 8 on long paths.
const settled = 0.4 // the texts of the facts say 60 %

// transferFacts are the facts that one transfer tells, all of them of the same one.
var transferFacts = []Name{Goodput, Steady, Duration, Stuck, LoadedRoundTrip, MSS, Segments, Retransmits, LateSegments,
	LateRetransmits, ReorderedShare, TimerShare, Spurious, SpuriousShare, SACK, WindowScaling,
	BehindGaps, ReceiveWindow, ReceiveWindowShare, ReceiveBuffer, ReceiveBufferFixed, ReceiveBufferMax, SendBufferShare, SendBuffer, SendBufferFixed,
	SendBufferMax, RoomShare, AppLimitedShare, Sourced, AskedRate}

// readTransfer takes all that a transfer by TCP says, in place of what one before it said. One that says nothing, since no data
// arrived and it ended too soon for that to mean anything, takes no other's place.
func readTransfer(s *Subject, r *measure.Result) {
	next := s.with(nil)
	next.episodes, next.watched = nil, false
	for _, n := range transferFacts {
		delete(next.facts, n)
	}
	for _, d := range defined() {
		if d.From == ofTransfer {
			delete(next.facts, d.Name)
		}
	}
	next.readTransfer(r)
	next.readBrought(ofTransfer, r)
	if next.Known(Stuck) || !s.Known(Stuck) {
		*s = *next
	}
}

func (s *Subject) readTransfer(r *measure.Result) {
	readEnds(s, r)
	s.brokenOff = r.Status == measure.StatusPartial
	sender := samples(s, r, measure.Sender)
	readSamples(s, r, sender)
	if len(sender) == 0 {
		s.readReceived(r, samples(s, r, measure.Receiver))
	}
	for _, e := range []*measure.TCPEnd{s.From, s.To} {
		if e != nil && !s.Known(MSS) {
			s.setPositive(MSS, float64(e.MSSBytes), r)
		}
	}
	readGoodput(s, r, sender)
	if share, told := r.Get(measure.RwndLimitedRatio); told {
		s.set(ReceiveWindowShare, exactly(share, r))
	}
	if share, told := r.Get(measure.SndbufLimitedRatio); told {
		s.set(SendBufferShare, exactly(share, r))
	}
	rate, rated := r.Number("rate")
	s.setPositive(AskedRate, rate, r)
	_, sourced := r.Parameters["source"]
	s.set(Sourced, yes(rated || sourced, r))
}

// readEnds takes who sends and who receives, and what they are set to.
func readEnds(s *Subject, r *measure.Result) {
	s.Sender, s.Receiver = r.Source.NameOrAddress(), r.Target.Name
	s.Address, s.SenderAddress, s.Target = r.Target.Address, r.Source.Address, r.Target.Name
	if s.Name == measure.Reverse {
		s.Sender, s.Receiver, s.Address, s.SenderAddress = s.Receiver, s.Sender, s.SenderAddress, s.Address
	}
	s.Responder = r.Parameters["peer"] == "pathwise"
	s.From, s.To = r.Samples.Find(s.Name, measure.Sender), r.Samples.Find(s.Name, measure.Receiver)
	if e := s.From; e != nil {
		s.congestion = e.CongestionControl
		s.setPositive(SendBuffer, float64(e.SendBufferBytes), r)
		s.set(SendBufferFixed, yes(e.BuffersFixed, r))
		if w := wmem(e); w != nil {
			s.set(SendBufferMax, exactly(float64(w[2]), r))
		}
	}
	if e := s.To; e != nil {
		s.setPositive(ReceiveBuffer, float64(e.ReceiveBufferBytes), r)
		s.set(ReceiveBufferFixed, yes(e.BuffersFixed, r))
		if m := rmem(e); m != nil {
			s.set(ReceiveBufferMax, exactly(float64(m[2]), r))
		}
	}
}

// samples returns what TCP_INFO said at one end of a way, of the first stream of several.
func samples(s *Subject, r *measure.Result, end string) []measure.TCPSample {
	all := r.Samples.Readings(s.Name, end)
	if len(all) == 0 {
		return nil
	}
	first := all[0].Stream
	return slices.DeleteFunc(all, func(one measure.TCPSample) bool { return one.Stream != first })
}

// readSamples takes what the sender's kernel said of the connection while it ran.
func readSamples(s *Subject, r *measure.Result, all []measure.TCPSample) {
	if len(all) == 0 {
		return
	}
	all = untilDone(all)
	last := all[len(all)-1]
	s.setPositive(Duration, last.ElapsedSeconds, r)
	s.setPositive(MSS, last.Values["snd_mss_bytes"], r)
	if least := last.Values["min_rtt_seconds"]; plausibleLeast(s, least, all) {
		s.setLeast(EmptyRoundTrip, least, r)
	}
	if segments, told := last.Get("data_segs_out"); told {
		s.set(Segments, exactly(segments, r))
		s.set(Retransmits, exactly(last.Values["total_retrans_packets"], r))
		readReordering(s, r, last)
	}
	s.readOptions(last, r)
	window := 0.0
	for _, one := range all {
		window = max(window, one.Values["snd_wnd_bytes"])
	}
	s.setPositive(ReceiveWindow, window, r)
	s.episodes, s.watched = episodesOf(all), true
	until := last.ElapsedSeconds
	if asked, ok := r.Number("duration"); ok && asked > 0 {
		until = min(until, asked) // no data is given to TCP after that, however long the ends wait for each other
	}
	if steady := slices.DeleteFunc(slices.Clone(all), func(one measure.TCPSample) bool {
		return one.ElapsedSeconds < settled*until || one.ElapsedSeconds > until
	}); len(steady) > 0 {
		readSteady(s, r, steady)
	}
}

// plausibleLeast reports whether a sender's least round trip can be the path's. Rarely a kernel tells one that no packet had, after losses: far below pings
// that all took as long, by a connection none of whose smoothed round trips comes near it. Where pings vary, others' queues come and go, and the least may be
// seen later; and where the path has changed, smoothed round trips show it.
func plausibleLeast(s *Subject, least float64, all []measure.TCPSample) bool {
	empty := s.Value(EmptyRoundTrip)
	if !s.Known(IdleRoundTrip) || shared(s) || least >= implausible*empty || empty-least <= leastQueue {
		return true
	}
	return slices.ContainsFunc(all, func(one measure.TCPSample) bool {
		trip := one.Values["rtt_seconds"]
		return trip > 0 && trip < (least+empty)/2
	})
}

// implausible is the share of the pings' least round trip below which that of a transfer is looked at twice: one of 13.5 ms was told of a path of 20 ms.
const implausible = 0.75

// untilDone leaves out samples at the end in which nothing was under way or waited to be sent any more: a transfer whose far end is silent
// when it is over is watched for longer than it lasts.
func untilDone(all []measure.TCPSample) []measure.TCPSample {
	for n := len(all); n > 1; n = len(all) {
		last, before := all[n-1].Values, all[n-2].Values
		if last["bytes_acked"] == 0 || last["bytes_acked"] != before["bytes_acked"] || last["unacked_packets"] > 0 || last["notsent_bytes"] > 0 {
			break
		}
		all = all[:n-1]
	}
	return all
}

// readReordering takes how many packets overtook others, and how many were sent again for that, as the receiver tells in duplicate
// selective acknowledgements (RFC 2883). Kernels before 4.19 tell neither.
func readReordering(s *Subject, r *measure.Result, last measure.TCPSample) {
	spurious, told := last.Get("dsack_dups")
	if !told {
		return
	}
	s.set(Spurious, exactly(spurious, r))
	if again := last.Values["total_retrans_packets"]; again > 0 {
		s.set(SpuriousShare, exactly(spurious/again, r))
	}
	if sent := last.Values["data_segs_out"]; sent > 0 {
		s.set(ReorderedShare, exactly(last.Values["reord_seen"]/sent, r))
	}
}

// agreed reads whether both ends of a transfer agreed on an option, as the sender's kernel tells, or else the receiver's.
func agreed(option int) func(*Subject, *measure.Result) (value float64, told bool) {
	return func(s *Subject, r *measure.Result) (float64, bool) {
		all := samples(s, r, measure.Sender)
		if len(all) == 0 {
			all = samples(s, r, measure.Receiver)
		}
		if len(all) == 0 {
			return 0, false
		}
		options, told := all[len(all)-1].Get("options")
		return yes(int(options)&option != 0, r).Value, told
	}
}

// readSteady takes what the samples of a transfer's later part say.
func readSteady(s *Subject, r *measure.Result, all []measure.TCPSample) {
	first, last, count := all[0], all[len(all)-1], float64(len(all))
	var trips []float64
	marked, room, waited := 0.0, 0.0, 0.0
	for _, one := range all {
		trips = append(trips, one.Values["rtt_seconds"])
		if hasRoom(one) {
			room++
		}
		if one.Values["delivery_rate_app_limited"] != 0 {
			marked++
		}
		if one.Values["backoff"] > 0 {
			waited++
		}
	}
	s.setPositive(LoadedRoundTrip, median(trips), r)
	if segments, told := last.Get("data_segs_out"); told {
		s.set(LateSegments, exactly(segments-first.Values["data_segs_out"], r))
		s.set(LateRetransmits, exactly(last.Values["total_retrans_packets"]-first.Values["total_retrans_packets"], r))
	}
	s.set(RoomShare, exactly(room/count, r))
	s.set(AppLimitedShare, exactly(marked/count, r))
	s.set(TimerShare, exactly(waited/count, r))
	if span := last.ElapsedSeconds - first.ElapsedSeconds; span > 0 {
		s.setPositive(Steady, (last.Values["bytes_acked"]-first.Values["bytes_acked"])*8/span, r)
	}
}

// hasRoom reports whether the program could have given TCP more at a sample. Where that does not tell how full the send buffer was
// (it is no part of TCP_INFO), nothing must wait to be sent and the kernel must have marked the delivery rate as the
// program's; alone that mark will not do, since Linux 6.18 at times leaves it out for a whole transfer.
func hasRoom(one measure.TCPSample) bool {
	if room, told := one.HasRoom(); told {
		return room
	}
	return one.Values["delivery_rate_app_limited"] != 0 && one.Values["notsent_bytes"] <= one.Values["snd_mss_bytes"]
}

// readGoodput takes how much arrived, or that for long enough nothing did. Goodput is that at the receiver, or, where its count
// did not come, what the sender saw acknowledged.
func readGoodput(s *Subject, r *measure.Result, sender []measure.TCPSample) {
	goodput, counted := r.Get(measure.Throughput)
	if s.Name == measure.Reverse && sortOf(r) == ofBothWays {
		goodput, counted = r.Get(measure.ReverseThroughput)
	}
	if receiver := samples(s, r, measure.Receiver); !s.Known(Duration) && len(receiver) > 0 {
		s.setPositive(Duration, receiver[len(receiver)-1].ElapsedSeconds, r)
	}
	lasted, arrived := s.Value(Duration), goodput > 0
	if len(sender) > 0 && !counted {
		acked := sender[len(sender)-1].Values["bytes_acked"]
		if arrived = acked >= s.Value(MSS); arrived && lasted > 0 { // less is the word that opened the stream
			goodput = acked * 8 / lasted
		}
	}
	switch {
	case arrived:
		s.set(Goodput, exactly(goodput, r))
		s.set(Stuck, yes(false, r))
		if !s.Known(Steady) {
			s.set(Steady, exactly(goodput, r))
		}
	case lasted >= max(leastSilence, silentTrips*s.Value(EmptyRoundTrip)):
		s.set(Goodput, exactly(0, r))
		s.set(Stuck, yes(true, r))
		s.set(Steady, exactly(s.Value(Steady), r))
	}
}

const (
	// leastSilence is how long nothing must arrive until that means something, in seconds: the first time-out of a sender that
	// knows no round trip yet (RFC 6298 section 2.1). silentTrips is how
	// many round trips nothing must arrive, where a round trip takes longer than a quarter of that.
	leastSilence = 1.0
	silentTrips  = 4
)

func median(values []float64) float64 {
	return stat.Quantile(slices.Sorted(slices.Values(values)), 0.5)
}

func seconds(s float64) time.Duration { return model.Seconds(s) }

func rmem(e *measure.TCPEnd) *[3]int {
	if e == nil || e.Settings == nil {
		return nil
	}
	return e.Settings.RmemBytes
}

func wmem(e *measure.TCPEnd) *[3]int {
	if e == nil || e.Settings == nil {
		return nil
	}
	return e.Settings.WmemBytes
}
