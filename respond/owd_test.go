package respond

import (
	"net"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// One-way delays are measured with a responder that is open for a run, by the run's secret, and with another one not.
func TestOneWayDelaysForRun(t *testing.T) {
	for proto, responder := range map[string]string{"twamp": measure.ResponderTWAMP, "owamp": measure.ResponderOWAMP} {
		for said, right := range map[string]bool{secret: true, otherSecret: false} {
			kind, _ := KindOf(responder)
			o := forRun(t, kind, Run{Peer: loopback})
			task := measure.Task{Kind: "owd", Target: "127.0.0.1", Parameters: map[string]any{"proto": proto, "count": 10., "interval": 0.001, "timeout": 0.2}}
			far := &measure.Responder{Kind: responder, Port: o.Addr.(*net.TCPAddr).Port, Secret: said}
			p, err := probe.New(task, probe.Options{Responder: far})
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Do(t.Context())
			_, forward := r.Get(measure.OneWay(measure.Forward, "median"))
			_, reverse := r.Get(measure.OneWay(measure.Reverse, "median"))
			if (err == nil) != right || forward != right || reverse != right {
				t.Errorf("%s, the right secret %v: %v, forward %v, reverse %v, %q", proto, right, err, forward, reverse, r.Notes)
			}
			if right {
				if tested := <-o.tests; tested.Err != nil {
					t.Errorf("%s: %+v", proto, tested)
				}
			}
		}
	}
	for proto, want := range map[string]string{"": measure.ResponderSTAMP, "twamp": measure.ResponderTWAMP, "owamp": measure.ResponderOWAMP} {
		parameters := map[string]any{}
		if proto != "" {
			parameters["proto"] = proto
		}
		if d, err := probe.Demand(measure.Task{Kind: "owd", Parameters: parameters}); err != nil || d.Responder != want {
			t.Errorf("%q asks for %s, %v", proto, d.Responder, err)
		}
	}
}
