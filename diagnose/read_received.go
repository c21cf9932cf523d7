package diagnose

import (
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// readReceived takes what the receiver's kernel said of a transfer whose sender tells nothing, as a web server or a stock iperf3 server.
func (s *Subject) readReceived(r *measure.Result, all []measure.TCPSample) {
	if len(all) == 0 {
		return
	}
	last := all[len(all)-1]
	s.setPositive(Duration, last.ElapsedSeconds, r)
	s.setPositive(MSS, last.Values["rcv_mss_bytes"], r)
	s.setLeast(EmptyRoundTrip, last.Values["min_rtt_seconds"], r)
	s.readOptions(last, r)
	if packets, told := last.Get("data_segs_in"); told && packets > 0 {
		s.set(BehindGaps, exactly(last.Values["rcv_ooopack"]/packets, r))
	}
	window := 0.0
	for _, one := range all {
		window = max(window, one.Values["rcv_wnd_bytes"])
	}
	if s.Known(WindowScaling) && !s.Is(WindowScaling) {
		window = min(window, unscaledWindow) // the kernel would grant more, and cannot say so
	}
	s.setPositive(ReceiveWindow, window, r)
	steady := slices.DeleteFunc(slices.Clone(all), func(one measure.TCPSample) bool { return one.ElapsedSeconds < settled*last.ElapsedSeconds })
	if len(steady) == 0 {
		return
	}
	first := steady[0]
	if span := last.ElapsedSeconds - first.ElapsedSeconds; span > 0 {
		s.setPositive(Steady, (last.Values["bytes_received"]-first.Values["bytes_received"])*8/span, r)
	}
	if trip := s.Value(EmptyRoundTrip); trip > 0 && window > 0 {
		s.set(ReceiveWindowShare, exactly(wholeWindowShare(steady, trip, window), r))
	}
}

// readOptions takes what both ends agreed on when the connection opened.
func (s *Subject) readOptions(last measure.TCPSample, r *measure.Result) {
	if options, told := last.Get("options"); told {
		s.set(SACK, yes(int(options)&sock.OptSACK != 0, r))
		s.set(WindowScaling, yes(int(options)&sock.OptWscale != 0, r))
	}
}

// wholeWindowShare is the share of the time in which a whole window, or nearly, came each empty round trip. Then the window is what holds
// the sender: with a queue in the path round trips are longer than that, and with a loss less is under way.
func wholeWindowShare(all []measure.TCPSample, trip, window float64) float64 {
	whole, parts := 0.0, 0.0
	from := all[0]
	for _, one := range all[1:] {
		span := one.ElapsedSeconds - from.ElapsedSeconds
		if span < judgedTrips*trip {
			continue
		}
		parts++
		if (one.Values["bytes_received"]-from.Values["bytes_received"])/span*trip >= wholeWindow*window {
			whole++
		}
		from = one
	}
	return whole / max(1, parts)
}

// judgedTrips is over how many round trips what came is compared with the window: over one, bursts at its edges decide.
const judgedTrips = 4
