package probe

import (
	"context"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/twamp"
)

// toldBy gathers the Results of a continuous measurement.
func toldBy(t *testing.T, ctx context.Context, p OWD) (all []*measure.Result) {
	t.Helper()
	p.Continuous, p.Finished = true, func(r *measure.Result) { all = append(all, r) }
	last, err := p.Do(ctx)
	if err != nil || last.Status != measure.StatusOK {
		t.Fatalf("%v, status %s, after %d Results: %v", err, last.Status, len(all), last.Notes)
	}
	return append(all, last)
}

// mostGap is how many intervals may be between two packets before a pause shows.
const mostGap = 10

// gapsOf are the times between packets that left one after the other: within windows, and from each window to the next.
func gapsOf(all []*measure.Result) (within, seams []time.Duration) {
	var before time.Time
	for _, r := range all {
		for j, e := range r.Samples.Echoes {
			at := r.Started.Add(time.Duration(e.SentSeconds * float64(time.Second)))
			switch gap := at.Sub(before); {
			case before.IsZero():
			case j == 0:
				seams = append(seams, gap)
			default:
				within = append(within, gap)
			}
			before = at
		}
	}
	return within, seams
}

// undisturbed measures once more where the machine held packets back in the middle of windows: fewer are in a window then than the test goes by.
// Where most gaps are long, or each that is between windows, it is not the machine.
func undisturbed(t *testing.T, interval, every time.Duration, measured func() []*measure.Result) []*measure.Result {
	t.Helper()
	const tries = 6
	paused := 0 // tries in which there was a pause before each window
	for try := 1; ; try++ {
		all := measured()
		within, seams := gapsOf(all)
		slices.Sort(within)
		longest, full := within[len(within)-1], 0.9*float64(every/interval)
		if within[len(within)/2] > 2*interval {
			t.Fatalf("packets leave every %v, not every %v", within[len(within)/2], interval)
		}
		whole := !slices.ContainsFunc(all[:len(all)-1], func(r *measure.Result) bool { return r.Metrics[measure.SentPackets] < full })
		if longest <= mostGap*interval && whole {
			return all
		}
		if len(seams) > 0 && slices.Min(seams) > mostGap*interval {
			paused++
		}
		if paused == tries {
			t.Fatalf("windows begin with pauses of %v in each of %d runs", seams, tries)
		}
		if try == tries {
			t.Skipf("this machine held packets back in each of %d runs, for %v in the last one", tries, longest)
		}
	}
}

// checkSeams demands that Results follow each other without a gap: numbers and times of packets go on.
func checkSeams(t *testing.T, all []*measure.Result, interval, every time.Duration) {
	t.Helper()
	within, seams := gapsOf(all)
	for i, gap := range seams {
		if gap > mostGap*interval && gap > 2*slices.Max(within) { // a machine that does much else makes pauses everywhere
			t.Errorf("Result %d begins with a pause of %v", i+1, gap)
		}
	}
	if least := min(slices.Min(within), slices.Min(seams)); least <= 0 {
		t.Errorf("packets left %v after the one before", least)
	}
	seq := 0
	for i, r := range all {
		for _, e := range r.Samples.Echoes {
			if e.Seq != seq {
				t.Errorf("Result %d: packet %d after %d", i, e.Seq, seq-1)
			}
			seq = e.Seq + 1
		}
		if i > 0 {
			if apart := r.Started.Sub(all[i-1].Started) - every; apart.Abs() > time.Millisecond {
				t.Errorf("Result %d begins %v after the one before and %v", i, every, apart)
			}
			if lasted := all[i-1].DurationSeconds; lasted != every.Seconds() {
				t.Errorf("Result %d is of %v s", i-1, lasted)
			}
		}
	}
}

// sums adds up counts over Results.
func sums(all []*measure.Result, of ...measure.Metric) map[measure.Metric]float64 {
	sum := map[measure.Metric]float64{}
	for _, r := range all {
		for _, m := range of {
			sum[m] += r.Metrics[m]
		}
	}
	return sum
}

// Each Result has the packets of its window, and together they have each packet once, with its fate.
func TestOWDContinuous(t *testing.T) {
	t.Parallel()
	fate := func(i int) fate {
		switch {
		case i == 199 || i == 200 || i%20 == 3: // at the seam, too
			return lostThere
		case i == 198 || i == 399 || i%20 == 5:
			return lostBack
		case i%20 == 8:
			return twiceBack
		}
		return reflect
	}
	const every, interval = time.Second, 5 * time.Millisecond
	p := OWD{Target: "127.0.0.1", Count: 500, Interval: interval, Every: every, Timeout: time.Second, Classes: "ef,be,le"}
	all := undisturbed(t, interval, every, func() []*measure.Result {
		p.Port = farEnd{fate: fate}.serve(t)
		return toldBy(t, t.Context(), p)
	})
	if len(all) != 3 {
		t.Fatalf("%d Results, want 3", len(all))
	}
	checkSeams(t, all, interval, every)
	for i, sent := range []float64{200, 200, 200} {
		if got := all[i].Metrics[measure.SentPackets]; got > sent {
			t.Errorf("Result %d: %v sent, want at most %v: %v", i, got, sent, all[i].Notes)
		}
		if all[i].Metrics[measure.ClockOffset] == 0 || all[i].TargetClock == nil {
			t.Errorf("Result %d tells nothing of the clocks", i)
		}
		for _, e := range all[i].Samples.Echoes {
			if want := [...]string{"ef", "be", "le"}[classOf(e.Seq, 3)]; e.Class != want {
				t.Errorf("Result %d: packet %d is called %s, and left as %s", i, e.Seq, e.Class, want)
			}
		}
	}
	var there, back, copies float64
	for i := range p.Count {
		switch fate(i) {
		case lostThere:
			there++
		case lostBack:
			back++
		case twiceBack:
			copies++
		}
	}
	want := map[measure.Metric]float64{measure.SentPackets: 500, measure.LostPackets: there + back, measure.DuplicatePackets: copies, measure.SentOn(measure.Forward): 500,
		measure.LostOn(measure.Forward): there, measure.SentOn(measure.Reverse): 500 - there, measure.LostOn(measure.Reverse): back}
	got := sums(all, measure.SentPackets, measure.LostPackets, measure.DuplicatePackets, measure.SentOn(measure.Forward), measure.LostOn(measure.Forward),
		measure.SentOn(measure.Reverse), measure.LostOn(measure.Reverse))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("over all Results (-truth +got):\n%s", diff)
	}
}

// The end of ctx ends it at once, with what was measured of the last window.
func TestOWDContinuousInterrupted(t *testing.T) {
	t.Parallel()
	p := OWD{Target: "127.0.0.1", Interval: 10 * time.Millisecond, Every: time.Second, Timeout: 20 * time.Second}
	var interrupted time.Time
	all := undisturbed(t, p.Interval, p.Every, func() []*measure.Result {
		p.Port = farEnd{}.serve(t)
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		p.Progress = func(e measure.Echo) {
			if e.Seq == 130 {
				interrupted = time.Now()
				interrupt()
			}
		}
		return toldBy(t, ctx, p)
	})
	if took := time.Since(interrupted); took > p.Timeout/2 {
		t.Errorf("it went on for %v", took)
	}
	if sent := sums(all, measure.SentPackets)[measure.SentPackets]; len(all) != 2 || sent < 130 || sent > 130+mostGap {
		t.Errorf("%d Results of %v packets", len(all), sent)
	}
	if last := all[len(all)-1]; last.DurationSeconds < 0.3 || last.DurationSeconds > 0.9 {
		t.Errorf("the last is of %v s", last.DurationSeconds)
	}
}

// countedAnswer is the answer of a reflector that counts.
func countedAnswer(packet []byte, count uint32) []byte {
	answer, now := make([]byte, len(packet)), uint64(control.TimestampOf(time.Now()))
	binary.BigEndian.PutUint32(answer, count)
	binary.BigEndian.PutUint64(answer[4:], now)
	binary.BigEndian.PutUint64(answer[16:], now)
	copy(answer[24:38], packet[:14])
	answer[40] = 255
	return answer
}

// A far end that is away for some time loses packets, nothing else, and one that was started again counts anew.
func TestOWDContinuousPeerLost(t *testing.T) {
	t.Parallel()
	p := OWD{Target: "127.0.0.1", Count: 350, Interval: 10 * time.Millisecond, Every: time.Second, Timeout: 300 * time.Millisecond}
	all := undisturbed(t, p.Interval, p.Every, func() []*measure.Result { return peerLost(t, p) })
	checkSeams(t, all, p.Interval, p.Every)
	got := sums(all, measure.SentPackets, measure.LostPackets, measure.LostOn(measure.Forward), measure.LostOn(measure.Reverse))
	lost := got[measure.LostPackets]
	want := map[measure.Metric]float64{measure.SentPackets: 350, measure.LostPackets: lost, measure.LostOn(measure.Reverse): 0,
		measure.LostOn(measure.Forward): lost - all[1].Metrics[measure.LostPackets] + all[1].Metrics[measure.LostOn(measure.Forward)]} // of the window nobody knows
	if all[1].Metrics[measure.LostPackets] < 80 {
		t.Errorf("the window without a far end lost %v of %v packets", all[1].Metrics[measure.LostPackets], all[1].Metrics[measure.SentPackets])
	}
	if diff := cmp.Diff(want, got); diff != "" || lost < 100 || lost > 180 {
		t.Errorf("%v lost (-want +got):\n%s", lost, diff)
	}
	if last := all[3]; last.Metrics[measure.LostPackets] != 0 || !strings.Contains(strings.Join(all[1].Notes, "\n"), "nothing came back after them") {
		t.Errorf("the last lost %v, the second notes %q", last.Metrics[measure.LostPackets], all[1].Notes)
	}
}

// peerLost measures a far end that answers the first 100 packets, and is started again when the fate of packet 200 is known.
func peerLost(t *testing.T, p OWD) []*measure.Result {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	to := conn.LocalAddr().(*net.UDPAddr)
	away := make(chan struct{})
	p.Port = to.Port
	reflecting := func(conn *net.UDPConn, until int) { // and then is away
		defer conn.Close()
		buffer := make([]byte, 2048)
		for count := uint32(0); ; count++ {
			n, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil || int(binary.BigEndian.Uint32(buffer)) >= until {
				return
			}
			_, _ = conn.WriteToUDPAddrPort(countedAnswer(buffer[:n], count), from)
		}
	}
	go func() {
		defer close(away)
		reflecting(conn, 100)
	}()
	p.Progress = func(e measure.Echo) {
		if e.Seq == 200 {
			<-away
			again, err := net.ListenUDP("udp", to)
			if err != nil {
				t.Error(err)
				return
			}
			go reflecting(again, 1<<30)
			t.Cleanup(func() { again.Close() })
		}
	}
	return toldBy(t, t.Context(), p)
}

// A session of TWAMP that grows old, and one whose server ended it, are followed by another one; of the first no packet is lost.
func TestOWDContinuousByTWAMP(t *testing.T) {
	t.Parallel()
	whole, _ := tcpServer(t, &twamp.Server{Policy: endpoint.Policy{Tests: 4}})
	brief, _ := tcpServer(t, &twamp.Server{Policy: endpoint.Policy{Tests: 4, Limits: endpoint.Limits{Longest: 700 * time.Millisecond}}})
	for name, c := range map[string]struct {
		port, lost          int
		renewAfter, timeout time.Duration
	}{"grows old": {whole, 0, 300 * time.Millisecond, 2 * time.Second}, "is ended": {brief, 250, time.Hour, 200 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := OWD{Target: "127.0.0.1", Proto: protoTWAMP, Port: c.port, Count: 350, Interval: 10 * time.Millisecond, Every: time.Second,
				Timeout: c.timeout, renewAfter: c.renewAfter}
			all := undisturbed(t, p.Interval, p.Every, func() []*measure.Result { return toldBy(t, t.Context(), p) })
			checkSeams(t, all, p.Interval, p.Every)
			got := sums(all, measure.SentPackets, measure.LostPackets, measure.LostOn(measure.Reverse))
			if lost := got[measure.LostPackets]; got[measure.SentPackets] != 350 || lost > float64(c.lost) || got[measure.LostOn(measure.Reverse)] != 0 {
				t.Errorf("%v", got)
			}
			if last := all[3].Metrics; last[measure.ReceivedPackets] == 0 {
				t.Errorf("nothing came back at the end: %v", all[3].Notes)
			}
		})
	}
}
