package probe

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/analysis/hops"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// Loopback is one link, too fast for clocks: the measurement ends early, says so, and files no rate. It needs no root: the survey goes by UDP.
func TestHopsOnLoopback(t *testing.T) {
	r, err := (&Capacity{Target: "127.0.0.1", Hops: true}).Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Samples.Links) != 1 || r.Metrics[measure.HopCount] != 1 {
		t.Fatalf("links %+v, metrics %v", r.Samples.Links, r.Metrics)
	}
	if l := r.Samples.Links[0]; l.Addresses[0] != "127.0.0.1" || l.Capacity.Certain || l.Capacity.Doubt == "" || l.Received == 0 {
		t.Errorf("link %+v", l)
	}
	if v, filed := r.Get(measure.NarrowestLink); filed {
		t.Errorf("a rate of loopback is filed: %v", v)
	}
}

// An answer that quotes the payload tells which packet it is of; one that quotes less does where one packet alone is under way.
func TestHopsAnswers(t *testing.T) {
	target, router := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("192.0.2.1")
	for name, c := range map[string]struct {
		sent   int
		quoted []byte
		want   int // packets answered
		short  bool
	}{
		"the index":                     {sent: 3, quoted: binary.BigEndian.AppendUint32(nil, 2), want: 1},
		"an index of none":              {sent: 3, quoted: binary.BigEndian.AppendUint32(nil, 7)},
		"no payload, one under way":     {sent: 1, want: 1},
		"no payload, several under way": {sent: 3, short: true},
	} {
		t.Run(name, func(t *testing.T) {
			run, err := newHopsRun(&Capacity{Port: hopsPort}, way{to: target, from: target})
			if err != nil {
				t.Fatal(err)
			}
			defer run.close()
			probes := run.study.Next().Probes
			for _, p := range probes[:c.sent] {
				run.udp.sent = append(run.udp.sent, hopsFlight{Probe: p, left: sock.Stamp{User: time.Now()}})
			}
			for range 2 { // a copy counts once
				run.handle(&run.udp, sock.ICMPError{Type: 11, Offender: router, To: netip.AddrPortFrom(target, hopsPort), Quoted: c.quoted, At: sock.Stamp{User: time.Now()}})
			}
			answered := 0
			for _, f := range run.udp.sent {
				if f.over {
					answered++
				}
			}
			if answered != c.want || run.short != c.short && c.want == 0 {
				t.Errorf("answered %d, short %v", answered, run.short)
			}
		})
	}
}

// Where each packet has to be waited for, the measurement ends in time all the same, and says of links that it was over.
func TestHopsEndInTime(t *testing.T) {
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	target := netip.MustParseAddr("127.0.0.1")
	run, err := newHopsRun(&Capacity{Port: silent.LocalAddr().(*net.UDPAddr).Port}, way{to: target, from: target})
	if err != nil {
		t.Fatal(err)
	}
	defer run.close()
	if run.syn.Socket != nil { // whose answers come at once
		run.syn.Close()
		run.syn = hopsSocket{}
	}
	run.short, run.longest = true, 50*time.Millisecond
	run.study.Add(hops.Answer{Probe: run.study.Next().Probes[0], RTT: 50e-3, From: target, Reached: true})
	began := time.Now()
	if err := run.do(t.Context(), began.Add(300*time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	r := measure.NewResult("capacity", began)
	run.report(run.study.Links(), r)
	if len(r.Samples.Links) != 1 || r.Samples.Links[0].Capacity.Doubt != string(hops.Late) || len(r.Notes) == 0 || !strings.Contains(r.Notes[0], "out of time") {
		t.Errorf("links %+v, notes %q", r.Samples.Links, r.Notes)
	}
}

// What does not go with hops is refused.
func TestHopsAlone(t *testing.T) {
	for name, p := range map[string]Capacity{"reverse": {Reverse: true}, "light": {Light: true}, "length": {Length: 500}, "small": {Length: 500, Small: 100}} {
		p.Target, p.Hops = "127.0.0.1", true
		if err := p.Validate(); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
