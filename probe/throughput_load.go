package probe

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// How round trips are taken beside a transfer.
const (
	loadInterval = 40 * time.Millisecond // 25 packets a second: 17 kbit/s each way
	// loadSparse is the time between them where only the loaded path is to be told: a transfer of 1.5 s has enough of them, and a way back
	// of 24 kbit/s has room for its acknowledgements.
	loadSparse = 100 * time.Millisecond
	// loadHold is how long a transfer waits for round trips of the path before it. They go on while the transfer is set up.
	loadHold  = 250 * time.Millisecond
	loadIdle  = 6               // answers that are enough to begin with: all that are sent in that time
	loadAfter = 5 * time.Second // an answer that takes longer is lost
	loadLeast = 5               // round trips under load from which a median is told
)

// loadedBy is the parameter that says by what the round trips of a transfer were measured: "stamp", packets beside the transfer, or
// "tcp_info", the transfer's own packets as the sender's kernel smooths them.
const (
	loadedBy   = "round_trips_by"
	bySTAMP    = "stamp"
	byTransfer = "tcp_info"
)

// sideTrips are round trips to a STAMP reflector beside a transfer, one each loadInterval:
//
//	|<- hold ->|<- set-up ->|<--------- transfer --------->|
//	 .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .
//	|<------- idle -------->|  slow start |<--- loaded --->|
type sideTrips struct {
	cancel context.CancelFunc
	ended  chan struct{}
	result *measure.Result // once ended is closed
}

// beginSideTrips begins the packets beside a transfer, and returns when the path's own round trip is known, nobody reflects, or loadHold is over; at
// once where that round trip was known before. They end where the first are refused or lost. nil: none are to be taken, as the target's address cannot be
// told, or as a test by UDP has no use for them where round trips are known: on a cable that takes turns they would meet its packets.
func (p *Throughput) beginSideTrips(ctx context.Context) *sideTrips {
	if p.alone || p.tripsKnown && p.Config.Proto == iperf3.UDP {
		return nil
	}
	to, err := Resolve(ctx, p.Target, p.Family)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &sideTrips{cancel: cancel, ended: make(chan struct{})}
	ready := make(chan struct{})
	answers, interval := 0, loadInterval
	if p.tripsKnown {
		interval = loadSparse
	}
	ping := Ping{Target: to.String(), Proto: protoSTAMP, Port: p.reflector, Count: pingMaxCount, Interval: interval, Timeout: loadAfter, DSCP: p.Config.DSCP,
		Progress: func(e measure.Echo) {
			if e.RTTSeconds == nil && answers == 0 {
				cancel()
				return
			}
			if answers++; answers == loadIdle {
				close(ready)
			}
		}}
	go func() {
		defer close(s.ended)
		s.result, _ = ping.Do(ctx) // what went wrong shows in that there are none
	}()
	if p.tripsKnown {
		return s
	}
	hold := time.NewTimer(loadHold)
	defer hold.Stop()
	select {
	case <-ready:
	case <-s.ended:
	case <-hold.C:
	}
	return s
}

// end stops the packets beside the transfer, and returns their round trips if they went to the address target; the times of these are
// seconds after began.
func (s *sideTrips) end(target string, began time.Time) (all []timedTrip) {
	if s == nil {
		return nil
	}
	s.cancel()
	<-s.ended
	if s.result.Target.Address != target {
		return nil
	}
	ahead := s.result.Started.Sub(began).Seconds()
	for _, e := range s.result.Samples.Echoes {
		if e.RTTSeconds != nil {
			all = append(all, timedTrip{e.SentSeconds + ahead, *e.RTTSeconds})
		}
	}
	return all
}

// timedTrip is a round trip in seconds, and when it began, in seconds since the first data.
type timedTrip struct{ at, trip float64 }

// fillLoad adds what the transfer did to round trips: to those beside it, or where there are none to its own.
func fillLoad(r *measure.Result, report *iperf3.Report, beside []timedTrip) {
	main := measure.Forward
	if report.Config.Reverse {
		main = measure.Reverse
	}
	until := dataSeconds(report, main)
	idle, loaded := splitTrips(beside, until)
	by := bySTAMP
	if len(idle) == 0 || len(loaded) < loadLeast {
		idle, loaded, by = ownTrips(r.Samples.Readings(main, measure.Sender), until)
	}
	for m, v := range loadMetrics(idle, loaded) {
		r.Metrics[m] = v
		r.Parameters[loadedBy] = by
	}
	if sent, again := sentBytes(r.Samples.Readings(main, measure.Sender)); sent > 0 {
		r.Metrics[measure.TCPEfficiency] = 1 - again/sent
	}
}

// dataSeconds is how long the sender of a direction gave data to its kernel, with the omitted part; 0: not known.
func dataSeconds(report *iperf3.Report, way string) float64 {
	total := report.Total(way)
	until := max(total.SentSeconds, total.ReceivedSeconds)
	if until == 0 {
		return 0
	}
	until += report.Config.Omit.Seconds()
	if asked := (report.Config.Duration + report.Config.Omit).Seconds(); report.Config.Duration > 0 {
		until = min(until, asked)
	}
	return until
}

// splitTrips takes those that were over before the first data, and those that began once slow start was over.
func splitTrips(all []timedTrip, until float64) (idle, loaded []float64) {
	for _, one := range all {
		switch {
		case one.at+one.trip <= 0:
			idle = append(idle, one.trip)
		case one.at >= narrowStart*until && one.at <= until:
			loaded = append(loaded, one.trip)
		}
	}
	return idle, loaded
}

// ownTrips are the least that the sender's kernel saw, the first of which is of the handshake, and its smoothed ones once slow start was over.
func ownTrips(readings []measure.TCPSample, until float64) (idle, loaded []float64, by string) {
	for _, s := range readings {
		if least := s.Values["min_rtt_seconds"]; least > 0 {
			idle = append(idle, least)
		}
		if trip := s.Values["rtt_seconds"]; trip > 0 && s.ElapsedSeconds >= narrowStart*until && s.ElapsedSeconds <= until {
			loaded = append(loaded, trip)
		}
	}
	return idle, loaded, byTransfer
}

// loadMetrics are what round trips before and under load say; none where either is missing.
func loadMetrics(idle, loaded []float64) map[measure.Metric]float64 {
	if len(idle) == 0 || len(loaded) < loadLeast {
		return nil
	}
	slices.Sort(loaded)
	least, usual := slices.Min(idle), stat.Quantile(loaded, 0.5)
	delay := max(0, usual-least)
	return map[measure.Metric]float64{measure.IdleRTT: least, measure.LoadedRTTMedian: usual, measure.LoadedRTTP95: stat.Quantile(loaded, 0.95),
		measure.BufferDelay: delay, measure.BufferDelayRatio: delay / least, measure.RoundTripsPerMinute: time.Minute.Seconds() / usual}
}

// sentBytes are those that the senders of a direction sent and sent again, by the last reading of each stream.
func sentBytes(readings []measure.TCPSample) (sent, again float64) {
	last := map[int]measure.TCPSample{}
	for _, s := range readings {
		last[s.Stream] = s
	}
	for _, s := range last {
		sent += s.Values["bytes_sent"]
		again += s.Values["bytes_retrans"]
	}
	return sent, again
}

// pathRateField is the parameter that tells the rate of the path.
func pathRateField() field[Throughput] {
	return field[Throughput]{Name: "path-rate", Default: "not known", binding: rate(func(p *Throughput) *int64 { return &p.PathRate }),
		Meaning: "of tcp: what the narrowest link carries of IP packets, as `pathwise capacity` tells it, for transfer_time_ratio (RFC 6349)"}
}

// checkPathRate refuses the rate of the path where nothing is reckoned with it.
func (p *Throughput) checkPathRate() error {
	if p.PathRate > 0 && (p.Config.Proto == iperf3.UDP || p.Search != "" || p.Group.Address != "") {
		return &input.Error{Field: "path-rate", Value: quantity.FormatRate(float64(p.PathRate)), Remedy: "the transfer time ratio is of tcp: leave it out"}
	}
	return nil
}

// fillTransferTime adds how many times longer the transfer took than at the rate of the narrowest link, in bit/s of IP packets; 0: not known. Segments
// have the time stamps option, as is usual. mss is without it.
func fillTransferTime(r *measure.Result, pathRate float64, mss int) {
	got := r.Metrics[measure.Throughput]
	if pathRate <= 0 || got <= 0 || mss <= 0 {
		return
	}
	headers := float64(model.IPv4Header + model.TCPHeader + model.TCPTimestamps)
	if to, err := netip.ParseAddr(r.Target.Address); err == nil && to.Unmap().Is6() {
		headers += model.IPv6Header - model.IPv4Header
	}
	ideal := pathRate * float64(mss) / (float64(mss) + headers)
	r.Metrics[measure.TransferTimeRatio] = ideal / got
}

// loadedWords say by what round trips were measured.
func loadedWords(by any) string {
	return map[any]string{bySTAMP: "STAMP beside the transfer", byTransfer: "the transfer's own packets"}[by]
}

// loadText writes what the transfer did to round trips.
func loadText(w io.Writer, r *measure.Result) {
	line := metricLine(w, r)
	line("idle round trip", measure.IdleRTT, quantity.FormatSeconds)
	line("loaded round trip", measure.LoadedRTTMedian, func(v float64) string {
		by := loadedWords(r.Parameters[loadedBy])
		return quantity.FormatSeconds(v) + ", 95 % within " + quantity.FormatSeconds(r.Metrics[measure.LoadedRTTP95]) + " (by " + by + ")"
	})
	line("buffer delay", measure.BufferDelay, func(v float64) string {
		return quantity.FormatSeconds(v) + ", " + percent(r.Metrics[measure.BufferDelayRatio]) + " of the idle round trip"
	})
	line("responsiveness", measure.RoundTripsPerMinute, func(v float64) string { return fmt.Sprintf("%.0f round trips a minute", v) })
	line("transfer time", measure.TransferTimeRatio, func(v float64) string { return fmt.Sprintf("%.2f times that of the path's rate", v) })
	line("TCP efficiency", measure.TCPEfficiency, func(v float64) string { return percent(v) })
}
