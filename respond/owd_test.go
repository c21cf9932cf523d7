package respond

import (
	"net"
	"strconv"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// One-way delays are measured with a responder that is open for a run, by the run's secret, and with another one not. A reflector that does not know of
// the secret answers whoever comes from the run's peer.
func TestOneWayDelaysForRun(t *testing.T) {
	for proto, responder := range map[string]string{"twamp": measure.ResponderTWAMP, "owamp": measure.ResponderOWAMP, "stamp": measure.ResponderSTAMP} {
		for said, right := range map[string]bool{secret: true, otherSecret: false} {
			kind, _ := KindOf(responder)
			o := forRun(t, kind, Run{Peer: loopback, Sealed: true})
			_, port, _ := net.SplitHostPort(o.Addr.String())
			number, _ := strconv.Atoi(port)
			task := measure.Task{Kind: "owd", Target: "127.0.0.1", Parameters: map[string]any{"proto": proto, "count": 10., "interval": 0.001, "timeout": 0.2}}
			far := &measure.Responder{Kind: responder, Port: number, Secret: said, Sealed: kind.Reflects}
			p, err := probe.New(task, probe.Options{Responder: far})
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Do(t.Context())
			_, forward := r.Get(measure.OneWay(measure.Forward, "median"))
			_, reverse := r.Get(measure.OneWay(measure.Reverse, "median"))
			if (err == nil) != (right || kind.Reflects) || forward != right || reverse != right || kind.Reflects && r.Parameters["mode"] != "A" {
				t.Errorf("%s, the right secret %v: %v, forward %v, reverse %v, %q", proto, right, err, forward, reverse, r.Notes)
			}
			if right && !kind.Reflects {
				if tested := <-o.tests; tested.Err != nil {
					t.Errorf("%s: %+v", proto, tested)
				}
			}
		}
	}
	kind, _ := KindOf(measure.ResponderSTAMP)
	o := forRun(t, kind, Run{Peer: loopback})
	p, err := probe.New(measure.Task{Kind: "owd", Target: "127.0.0.1", Parameters: map[string]any{"count": 2., "interval": 0.001}}, probe.Options{
		Responder: &measure.Responder{Kind: kind.Name, Port: o.Addr.(*net.UDPAddr).Port, Secret: secret}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Do(t.Context()); err != nil || r.Metrics[measure.ReceivedPackets] < 1 || r.Parameters["mode"] != "O" {
		t.Errorf("a reflector that is not sealed: %v, %v", r.Metrics, err)
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
