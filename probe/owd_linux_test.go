package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/control"
)

// farEnd is a reflector on loopback whose clock and behaviour are injected.
type farEnd struct {
	ahead func(index int) time.Duration // of its clock, when a packet comes; nil: none
	fate  func(index int) fate          // of a packet; nil: it is reflected
	error control.ErrorEstimate         // that it claims
	holds time.Duration                 // what it claims to hold each packet for
}

// fate is what becomes of a packet.
type fate int

const (
	reflect fate = iota
	lostThere
	lostBack
	twiceBack
)

// serve reflects until the test ends, and returns its port.
func (f farEnd) serve(t *testing.T) int {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 2048)
		count := uint32(0)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			now, index := time.Now(), int(binary.BigEndian.Uint32(buffer))
			if f.ahead != nil {
				now = now.Add(f.ahead(index))
			}
			what := reflect
			if f.fate != nil {
				what = f.fate(index)
			}
			if what == lostThere {
				continue
			}
			answer := make([]byte, n)
			binary.BigEndian.PutUint32(answer, count)
			binary.BigEndian.PutUint64(answer[4:], uint64(control.TimestampOf(now.Add(f.holds))))
			binary.BigEndian.PutUint16(answer[12:], uint16(f.error))
			binary.BigEndian.PutUint64(answer[16:], uint64(control.TimestampOf(now)))
			copy(answer[24:38], buffer[:14])
			answer[40] = 255
			count++
			for range map[fate]int{reflect: 1, twiceBack: 2}[what] {
				_, _ = conn.WriteToUDPAddrPort(answer, from)
			}
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// What became of each packet is told exactly, whichever way it went.
func TestOWDLosses(t *testing.T) {
	port := farEnd{fate: func(i int) fate {
		switch {
		case i%10 == 3:
			return lostThere
		case i%10 == 5 || i%10 == 6:
			return lostBack
		case i%10 == 8:
			return twiceBack
		}
		return reflect
	}}.serve(t)
	lines := 0
	p := OWD{Target: "127.0.0.1", Port: port, Count: 50, Interval: time.Millisecond, Timeout: 200 * time.Millisecond, Poisson: true,
		Progress: func(measure.Echo) { lines++ }}
	r, err := p.Do(t.Context())
	if err != nil || r.Status != measure.StatusOK || lines != 50 || len(r.Samples.Echoes) != 50 {
		t.Fatalf("%v, status %s, %d lines, %d samples", err, r.Status, lines, len(r.Samples.Echoes))
	}
	for m, want := range map[measure.Metric]float64{
		measure.SentPackets: 50, measure.LostPackets: 15, measure.DuplicatePackets: 5, measure.ReorderedPackets: 0, measure.HopCount: 1,
		measure.SentOn(measure.Forward): 50, measure.LostOn(measure.Forward): 5, measure.LossBurstOn(measure.Forward): 1,
		measure.LossDistanceOn(measure.Forward): 10, measure.DuplicateOn(measure.Forward): 0,
		measure.SentOn(measure.Reverse): 45, measure.LostOn(measure.Reverse): 10, measure.LossBurstOn(measure.Reverse): 2,
		measure.DuplicateOn(measure.Reverse): 5,
	} {
		if got, ok := r.Get(m); !ok || got != want {
			t.Errorf("%s = %v, %v; want %v", m, got, ok, want)
		}
	}
	if r.Parameters["stamps"] != "kernel" {
		t.Errorf("stamps by %v: %v", r.Parameters["stamps"], r.Notes)
	}
}

// Whatever the far clock shows loses nothing; the offset lies within its bound, which counts where the clock claims better; and a step is seen.
func TestOWDClocks(t *testing.T) {
	for name, c := range map[string]struct {
		first, then  float64 // s that it is ahead, at first and from the 20th packet on
		error        control.ErrorEstimate
		contradicted bool
	}{
		"an hour ahead":         {3600, 3600, control.Unknown, false},
		"behind, false claim":   {-3, -3, control.EstimateOf(1, true), true},
		"set while it measures": {0, 5, control.Unknown, false},
	} {
		far := farEnd{error: c.error, ahead: func(index int) time.Duration {
			if index < 20 {
				return time.Duration(c.first * 1e9)
			}
			return time.Duration(c.then * 1e9)
		}}
		run := &OWD{Target: "127.0.0.1", Port: far.serve(t), Count: 40, Interval: 2 * time.Millisecond}
		r, err := run.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		const rounding = 1e-6
		a, low, high := r.TargetClock.AheadSeconds, min(c.first, c.then), max(c.first, c.then)
		if a == nil || a[0] > low+rounding || a[1] < high-rounding || a[1]-a[0] > high-low+0.5 {
			t.Errorf("%s: ahead %v, want %v to %v within", name, a, low, high)
		}
		if lost, _ := r.Get(measure.LostPackets); lost != 0 {
			t.Errorf("%s: %v lost", name, lost)
		}
		worst := max(-low, high)
		if most, _ := r.Get(measure.OneWayError); most < worst-rounding || most > worst+0.5 {
			t.Errorf("%s: error %v, want %v", name, most, worst)
		}
		notes := strings.Join(r.Notes, "\n")
		if s := r.TargetClock.StepSeconds; math.Abs(s-(c.then-c.first)) > 0.1 || (s != 0) != strings.Contains(notes, "a clock was set by 5.00 s") {
			t.Errorf("%s: step %v, notes %q", name, s, r.Notes)
		}
		near := r.Clock.Synchronized // what nobody claims nothing contradicts
		if strings.Contains(notes, "not as right as they claim") != (c.contradicted && near) {
			t.Errorf("%s: notes %q", name, r.Notes)
		}
	}
}

// Where nobody listens the kernel of the far end says so, which is an error and no loss; where nobody says anything it is loss.
func TestOWDNobody(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	silent := conn.LocalAddr().(*net.UDPAddr).Port
	r, err := OWD{Target: "127.0.0.1", Port: silent, Count: 3, Interval: time.Millisecond, Timeout: 20 * time.Millisecond}.Do(t.Context())
	if loss, _ := r.Get(measure.LossRatio); err != nil || loss != 1 {
		t.Errorf("loss ratio %v, %v; want 1", loss, err)
	}
	conn.Close()
	r, err = OWD{Target: "127.0.0.1", Port: silent, Count: 3, Interval: time.Millisecond}.Do(t.Context())
	if err == nil || r.Status == measure.StatusOK || !strings.Contains(err.Error(), "no reflector answers") {
		t.Errorf("status %s, %v; want that no reflector answers", r.Status, err)
	}
}

// A measurement that is cut short returns what it has.
func TestOWDCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, err := OWD{Target: "127.0.0.1", Port: farEnd{}.serve(t), Interval: time.Hour, Progress: func(measure.Echo) { cancel() }}.Do(ctx)
	if sent, _ := r.Get(measure.SentPackets); !errors.Is(err, context.Canceled) || r.Status != measure.StatusPartial || sent != 1 {
		t.Errorf("status %s, %v, %v sent; want partial, cancelled, 1", r.Status, err, sent)
	}
}

func TestOWDBadInput(t *testing.T) {
	for want, p := range map[string]OWD{
		"target":   {},
		"proto":    {Target: "a", Proto: "sundial"},
		"interval": {Target: "a", Interval: time.Microsecond},
		"count":    {Target: "a", Count: owdMaxCount + 1},
		"size":     {Target: "a", Size: 20},
		"timeout":  {Target: "a", Interval: 100 * time.Microsecond, Timeout: time.Minute},
		"DSCP":     {Target: "a", DSCP: 64},
	} {
		if err := p.Validate(); !blamesCaller(err) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want what is wrong with %s", p, err, want)
		}
	}
}
