package probe

import (
	"bufio"
	"context"
	"errors"
	"math"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// transfers are all that goes by iperf3's protocol, each way, in the shortest time that tests take.
func transfers(port int) map[string]measure.Prober {
	all := map[string]measure.Prober{}
	for _, proto := range []string{iperf3.TCP, iperf3.UDP} {
		for way, c := range map[string]iperf3.Config{"forward": {}, "reverse": {Reverse: true}, "both": {Bidir: true}} {
			c.Proto, c.Duration = proto, 100*time.Millisecond
			all[proto+" "+way] = &Throughput{Target: "127.0.0.1", Port: port, Config: c}
		}
	}
	all["trains forward"] = &Capacity{Target: "127.0.0.1", Port: port}
	all["trains reverse"] = &Capacity{Target: "127.0.0.1", Port: port, Reverse: true}
	return all
}

// A transfer's Result has what the responder says of its clock, whichever way the data goes.
func TestTargetClock(t *testing.T) {
	for name, clock := range map[string]measure.Clock{
		"kept":             measure.NewClock(2*time.Millisecond, true),
		"let run":          measure.NewClock(0, false),
		"off beyond sense": {Synchronized: true},
	} {
		bound := time.Hour
		if e := clock.ErrorSeconds; e != nil {
			bound = time.Duration(*e * float64(time.Second))
		}
		port := serveBy(t, &iperf3.Server{Clock: func() (time.Duration, bool) { return bound, clock.Synchronized }})
		for what, p := range transfers(port) {
			t.Run(name+"/"+what, func(t *testing.T) {
				r, err := p.Do(t.Context())
				if err != nil && !errors.Is(err, errTrainsSlow) { // loopback has no narrow link
					t.Fatal(err)
				}
				if diff := cmp.Diff(&clock, r.TargetClock, cmpopts.IgnoreFields(measure.Clock{}, "AheadSeconds")); diff != "" {
					t.Errorf("target clock (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A far clock that is ahead, or is set while the test runs, shows in the Result: it is ahead by no less and no more than what is told, which
// is as wide as a round trip; and this host's clock was not set.
func TestTargetClockIsOff(t *testing.T) {
	for name, c := range map[string]struct{ ahead, step time.Duration }{
		"ahead": {20 * time.Second, 0}, "behind": {-time.Hour, 0}, "set": {0, 3 * time.Second}, "set back": {time.Minute, -time.Second},
	} {
		var began atomic.Pointer[time.Time] // the server reads it meanwhile
		begin := func() { t := time.Now(); began.Store(&t) }
		begin()
		now := func() time.Time {
			if time.Since(*began.Load()) > 50*time.Millisecond {
				return time.Now().Add(c.ahead + c.step)
			}
			return time.Now().Add(c.ahead)
		}
		port := serveBy(t, &iperf3.Server{Now: now})
		begin()
		p := &Throughput{Target: "127.0.0.1", Port: port, Config: iperf3.Config{Duration: 200 * time.Millisecond}}
		r, err := p.Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := r.TargetClock.AheadSeconds
		if got == nil || got[0] > c.ahead.Seconds() || got[1] < c.ahead.Seconds() || got[1]-got[0] > 1 {
			t.Errorf("%s: ahead %v, want %v within", name, got, c.ahead)
		}
		if off := r.TargetClock.StepSeconds - c.step.Seconds(); math.Abs(off) > 0.1 || r.Clock.StepSeconds != 0 {
			t.Errorf("%s: the far clock was set by %v, this one by %v; want %v and none", name, r.TargetClock.StepSeconds, r.Clock.StepSeconds, c.step)
		}
	}
}

// A transfer that ends early tells of the far end's clock all the same.
func TestTargetClockOfPart(t *testing.T) {
	port := serveBy(t, &iperf3.Server{Clock: func() (time.Duration, bool) { return time.Millisecond, true }})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &Throughput{Target: "127.0.0.1", Port: port, Config: iperf3.Config{Duration: time.Minute, Interval: 20 * time.Millisecond}}
	p.OnInterval = func(measure.Interval) { cancel() }
	r, err := p.Do(ctx)
	want := measure.NewClock(time.Millisecond, true)
	if diff := cmp.Diff(&want, r.TargetClock, cmpopts.IgnoreFields(measure.Clock{}, "AheadSeconds")); diff != "" || err == nil {
		t.Errorf("error %v, target clock (-want +got):\n%s", err, diff)
	}
}

// Of a stock iperf3's clock nothing is known.
func TestTargetClockOfStock(t *testing.T) {
	port := stockServer(t)
	for what, p := range transfers(port) {
		if _, trains := p.(*Capacity); trains {
			continue // a stock server takes no notice of them
		}
		t.Run(what, func(t *testing.T) {
			var r *measure.Result
			err := error(nil)
			for began := time.Now(); time.Since(began) < 10*time.Second; { // it closes its socket between tests
				if r, err = p.Do(t.Context()); err == nil {
					break
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.TargetClock != nil {
				t.Errorf("target clock %+v", *r.TargetClock)
			}
		})
	}
}

// stockServer starts iperf3 -s on a port of loopback.
func stockServer(t *testing.T) (port int) {
	t.Helper()
	path, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port = free.Addr().(*net.TCPAddr).Port
	free.Close()
	server := exec.Command(path, "-s", "-B", "127.0.0.1", "-p", strconv.Itoa(port), "--forceflush")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "Server listening") {
			go func() { // ends with the process
				for lines.Scan() {
				}
			}()
			return port
		}
	}
	t.Fatal("iperf3 -s did not start")
	return 0
}
