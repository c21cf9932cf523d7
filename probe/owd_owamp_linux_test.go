package probe

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/owamp"
)

func owampServer(t *testing.T, keys endpoint.Keys) (port int, end func()) {
	t.Helper()
	return tcpServer(t, &owamp.Server{Policy: endpoint.Policy{Keys: keys}})
}

// Each mode of OWAMP measures both ways, by packets of their own, and the Result says which mode it was.
func TestOWDByOWAMP(t *testing.T) {
	phrase := "a pass phrase of some length"
	port, _ := owampServer(t, endpoint.Keys{"ann": []byte(phrase)})
	open, _ := owampServer(t, nil)
	keys := keyFile(t, "ann "+hex.EncodeToString([]byte(phrase))+"\n")
	for name, c := range map[string]struct {
		OWD
		want string
	}{
		"open":            {OWD{Port: open}, "O"},
		"open, asked for": {OWD{Port: open, Mode: "O", Size: 1000, Poisson: true}, "O"},
		"authenticated":   {OWD{Port: port, Mode: "A", KeyFile: keys}, "A"},
		"encrypted":       {OWD{Port: port, Mode: "E", KeyFile: keys, KeyID: "ann", Size: 300, DSCP: 10}, "E"},
		"the server's":    {OWD{Port: port, KeyFile: keys}, "E"},
		"a run's secret":  {OWD{Port: port, secret: phrase}, ""}, // the server does not know its ID
	} {
		t.Run(name, func(t *testing.T) {
			p, told := c.OWD, map[string]int{}
			p.Target, p.Proto, p.Count, p.Interval, p.Timeout = "127.0.0.1", protoOWAMP, 20, time.Millisecond, 200*time.Millisecond
			p.Progress = func(e measure.Echo) { told[e.Way]++ }
			r, err := p.Do(t.Context())
			if c.want == "" {
				if err == nil {
					t.Error("it was let in")
				}
				return
			}
			if err != nil || r.Status != measure.StatusOK || r.Parameters["mode"] != c.want || len(r.Samples.Echoes) != 40 || told["forward"] != 20 || told["reverse"] != 20 {
				t.Fatalf("in mode %v, %v, %d samples, told %v, %q", r.Parameters["mode"], err, len(r.Samples.Echoes), told, r.Notes)
			}
			for m, want := range map[measure.Metric]float64{measure.SentPackets: 40, measure.ReceivedPackets: 40,
				measure.SentOn(measure.Forward): 20, measure.LostOn(measure.Reverse): 0, measure.ConnectivityOn(measure.Forward): 1} {
				if got, known := r.Get(m); !known || got != want {
					t.Errorf("%s: %v, known %v, want %v", m, got, known, want)
				}
			}
			for _, way := range []string{measure.Forward, measure.Reverse} {
				if median, known := r.Get(measure.OneWay(way, "median")); !known || median < 0 || median > 0.05 {
					t.Errorf("%s: median %v, known %v", way, median, known)
				}
			}
			if _, any := r.Get(measure.RTTMin); any || r.Metrics[measure.OneWayError] > 0.05 || r.TargetClock == nil {
				t.Errorf("a round trip: %v; clocks wrong by %v s, %+v", any, r.Metrics[measure.OneWayError], r.TargetClock)
			}
		})
	}
}

// What is not there, and what a server does not grant, is said; a server that goes away ends the measurement, and what came before is kept.
func TestOWDByOWAMPFails(t *testing.T) {
	if r, err := (OWD{Target: "127.0.0.1", Proto: protoOWAMP, Port: 1, Count: 1}).Do(t.Context()); err == nil || r.Status != measure.StatusFailed {
		t.Errorf("nobody listens: %v", err)
	}
	port, end := owampServer(t, nil)
	p := OWD{Target: "127.0.0.1", Proto: protoOWAMP, Port: port, Count: 10_000, Interval: 10 * time.Millisecond}
	p.Progress = func(measure.Echo) { end() }
	r, err := p.Do(t.Context())
	if n, _ := r.Get(measure.ReceivedPackets); err == nil || n < 1 || r.Status != measure.StatusPartial || !strings.Contains(strings.Join(r.Notes, "\n"), "before the end") {
		t.Errorf("%v received, %v, notes %q", n, err, r.Notes)
	}
}

// An interrupted measurement has both ways until then, also where nobody watched the way there.
func TestOWDByOWAMPInterrupted(t *testing.T) {
	port, _ := owampServer(t, nil)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	p := OWD{Target: "127.0.0.1", Proto: protoOWAMP, Port: port, Count: 10_000, Interval: 10 * time.Millisecond}
	time.AfterFunc(time.Second, interrupt)
	r, err := p.Do(ctx)
	if !errors.Is(err, context.Canceled) || r.Status != measure.StatusPartial {
		t.Errorf("%v, status %s", err, r.Status)
	}
	for _, way := range []string{measure.Forward, measure.Reverse} {
		if sent := r.Metrics[measure.SentOn(way)]; sent < 10 || sent > 1000 || r.Metrics[measure.LostOn(way)] > 1 {
			t.Errorf("%s: %v sent, %v lost, notes %q", way, sent, r.Metrics[measure.LostOn(way)], r.Notes)
		}
	}
}

// Whoever watches has the first figures within a second, by each protocol.
func TestOWDFirstFigures(t *testing.T) {
	byTWAMP, _ := twampServer(t, nil)
	byOWAMP, _ := owampServer(t, nil)
	bySTAMP := farEnd{}.serve(t)
	for proto, port := range map[string]int{protoSTAMP: bySTAMP, protoTWAMP: byTWAMP, protoOWAMP: byOWAMP} {
		t.Run(proto, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			began, first := time.Now(), map[string]time.Duration{}
			p := OWD{Target: "127.0.0.1", Proto: proto, Port: port, Count: 1000, Interval: 100 * time.Millisecond}
			p.Progress = func(e measure.Echo) {
				if e.ForwardSeconds != nil && first[measure.Forward] == 0 {
					first[measure.Forward] = time.Since(began)
				}
				if e.ReverseSeconds != nil && first[measure.Reverse] == 0 {
					first[measure.Reverse] = time.Since(began)
				}
				if len(first) == 2 {
					stop()
				}
			}
			_, _ = p.Do(ctx)
			for _, way := range []string{measure.Forward, measure.Reverse} {
				if first[way] == 0 || first[way] > time.Second {
					t.Errorf("%s after %v", way, first[way])
				}
			}
			t.Logf("%v", first)
		})
	}
}
