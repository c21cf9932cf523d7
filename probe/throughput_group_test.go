package probe

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

func TestCheckGroup(t *testing.T) {
	good := Throughput{Target: "a", Group: Group{Address: "239.255.86.4", Receivers: "b, c:5202 [2001:db8::1]:5203", TTL: 255}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"b", "c:5202", "[2001:db8::1]:5203"}, good.Group.receivers()); diff != "" {
		t.Errorf("receivers (-want +got):\n%s", diff)
	}
	for field, change := range map[string]func(*Throughput){
		"path-rate":                            func(p *Throughput) { p.PathRate = 1e6 },
		"path-rate \"1.00 Mbit/s\"":            func(p *Throughput) { p.PathRate, p.Group = 1e6, Group{}; p.Search = SearchRFC9097 },
		"path-rate \"2.00 Mbit/s\"":            func(p *Throughput) { p.PathRate, p.Group = 2e6, Group{}; p.Search = SearchTrials },
		"group \"10.0.0.1\"":                   func(p *Throughput) { p.Group.Address = "10.0.0.1" },
		"group 224.0.0.1":                      func(p *Throughput) { p.Group.Address = "224.0.0.1" },
		"group 239.255.86.4":                   func(p *Throughput) { p.Config.Reverse = true },
		"receivers \"x y:z\"":                  func(p *Throughput) { p.Group.Address, p.Group.Receivers = "", "x y:z" },
		"receivers \"y:z\"":                    func(p *Throughput) { p.Group.Receivers = "x y:z" },
		"ttl":                                  func(p *Throughput) { p.Group = Group{TTL: 3} },
		"group \"239.255.86.4\": it is of one": func(p *Throughput) { p.Search = SearchTrials },
	} {
		p := good
		change(&p)
		if err := p.Validate(); !input.Bad(err) || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A Result of a group has what each receiver counted, the target first, and how far datagrams went.
func TestThroughputGroup(t *testing.T) {
	ports := make([]int, 2)
	groups, err := iperf3.ParseGroups(iperf3.PrivateGroups)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ports {
		ports[i] = serveBy(t, &iperf3.Server{Policy: iperf3.Policy{Groups: groups}})
	}
	p := &Throughput{Target: "127.0.0.1", Port: ports[0], Group: Group{Address: "239.255.86.7", Receivers: fmt.Sprintf("127.0.0.1:%d", ports[1])},
		Config: iperf3.Config{Duration: 300 * time.Millisecond, Rate: 1e6, Length: 1000}}
	r, err := p.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := measure.GroupReceiver{Host: "127.0.0.1", Address: "127.0.0.1", Interface: "lo"}
	other := want
	other.Host = p.Group.Receivers
	ignored := cmpopts.IgnoreFields(measure.GroupReceiver{}, "BitsPerSecond", "SentPackets", "JitterSeconds", "PDVSeconds")
	if diff := cmp.Diff([]measure.GroupReceiver{want, other}, r.Samples.Receivers, ignored); diff != "" {
		t.Errorf("receivers (-want +got):\n%s", diff)
	}
	for _, one := range r.Samples.Receivers {
		if one.SentPackets < 1 || one.BitsPerSecond <= 0 {
			t.Errorf("%+v", one)
		}
	}
	if r.Parameters["ttl"] != 1. || r.Parameters["group"] != "239.255.86.7" || r.Parameters["proto"] != "udp" || r.Metrics[measure.LossRatio] != 0 {
		t.Errorf("parameters %v, metrics %v", r.Parameters, r.Metrics)
	}
	var out bytes.Buffer
	throughputText(&out, r)
	if got := out.String(); !strings.HasPrefix(got, "receiver  ") || strings.Count(got, "127.0.0.1") != 2 {
		t.Errorf("text:\n%s", got)
	}
}

// What a receiver that heard nothing, or went away, has in a Result.
func TestGroupReceiver(t *testing.T) {
	gone := groupReceiver("b", iperf3.Received{Report: &iperf3.Report{}, Err: errors.New("it went away")})
	if want := (measure.GroupReceiver{Host: "b", Failure: "it went away"}); gone != want {
		t.Errorf("%+v, want %+v", gone, want)
	}
	deaf := groupReceiver("b", iperf3.Received{Report: &iperf3.Report{Streams: []iperf3.StreamReport{{Direction: measure.Forward, Sent: &iperf3.Count{Packets: 50},
		Received: &iperf3.Count{}}}}})
	if want := (measure.GroupReceiver{Host: "b", SentPackets: 50, LostPackets: 50, LossRatio: 1}); deaf != want {
		t.Errorf("%+v, want %+v", deaf, want)
	}
	r := newResult("throughput", "a")
	noteDeaf(r, []measure.GroupReceiver{deaf, gone}, 1)
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "nothing came to b: datagrams to the group pass 1 link (ttl)") {
		t.Errorf("notes %q", r.Notes)
	}
}
