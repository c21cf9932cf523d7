package probe

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/flows"
	"github.com/pathwise-net/pathwise/traffic"
)

// A task by script over loopback, with the secret of a run.
func TestFlowsOnLoopback(t *testing.T) {
	secret := strings.Repeat("s", flows.SecretBytes)
	l, err := flows.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&flows.Server{Policy: flows.Policy{Secret: secret}}).Serve(ctx, l) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	p, err := New(measure.Task{Kind: "flows", Target: "127.0.0.1", Parameters: map[string]any{
		"script": "flow a end 100ms constant rate 100/s size 100; flow b reverse end 100ms poisson rate 100/s size 64..99", "linger": "20ms"}},
		Options{Responder: &measure.Responder{Kind: measure.ResponderFlows, Port: l.Addr().(*net.TCPAddr).Port, Secret: secret}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Do(t.Context())
	if err != nil || r.Status != measure.StatusOK || len(r.Samples.Flows) != 2 || r.Way != measure.Both {
		t.Fatalf("%v: %+v", err, r)
	}
	sent := 0
	for _, f := range r.Samples.Flows {
		if f.Arrived == nil || f.Arrived.Received+f.Arrived.Lost != f.Sent {
			t.Errorf("%+v: arrivals %+v", f, f.Arrived)
		}
		sent += f.Sent
	}
	if r.Metrics[measure.SentPackets] != float64(sent) {
		t.Errorf("%v packets, the flows have %d", r.Metrics[measure.SentPackets], sent)
	}
	if m := r.Metrics; m[measure.SentOn(measure.Reverse)] != float64(r.Samples.Flows[1].Sent) || m[measure.LossOn(measure.Reverse)] != 0 || m[measure.ReverseThroughput] == 0 {
		t.Errorf("%v: want figures of what came in reverse", m)
	}
}

// What people read has a line for each flow; of a test whose end nobody told, what is known.
func TestFlowsText(t *testing.T) {
	script, err := traffic.Parse("flow a end 2s constant rate 10/s size 100; flow b end 4s constant rate 5/s size 100", nil)
	if err != nil {
		t.Fatal(err)
	}
	sent := []flows.Sent{{Port: 7, Packets: 20, Bytes: 2000}, {Port: 8, Packets: 19, Bytes: 1900, Skipped: 1}}
	sent[0].LateP95, sent[0].LateMost = 1000, 1000
	for want, o := range map[string]flows.Outcome{
		`c (10.0.0.2): 2 flows
flow  sent  unsent  lost    loss  in a row  copies  reordered         rate  ipdv p95  late p95  late max
a       20       0     2  10.0 %         2       1          3  7.20 kbit/s   2.00 ms    1.0 µs    1.0 µs
b       19       1     0  0.00 %         0       0          0  3.80 kbit/s       0 s       0 s       0 s
a: 4 packets arrived with another mark
`: {Sent: sent, Account: &flows.Account{Flows: []flows.FlowAccount{{SoFar: flows.SoFar{Packets: 18, Bytes: 1800}, Copies: 1, Reordered: 3,
			LossRuns: 1, LongestRun: 2, Remarked: 4, Span: time.Second, IPDVP95: 2 * time.Millisecond}, {SoFar: flows.SoFar{Packets: 19, Bytes: 1900}}}}},
		`c (10.0.0.2): 2 flows
flow  sent  unsent  lost  loss  in a row  copies  reordered  rate  ipdv p95  late p95  late max
a       20       0     ?     ?         ?       ?          ?     ?         ?    1.0 µs    1.0 µs
b       19       1     ?     ?         ?       ?          ?     ?         ?       0 s       0 s
a: 12 packets had arrived when the far end was last heard
`: {Sent: sent, SoFar: []flows.SoFar{{Packets: 12}, {}}},
	} {
		r := measure.NewResult("flows", time.Now())
		r.Target = measure.Endpoint{Name: "c", Address: "10.0.0.2"}
		reportFlows(r, script, 5214, o)
		var b strings.Builder
		flowsText(&b, r)
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// What cannot be is refused before anything is sent, and a script has its place in a plan.
func TestFlowsValidate(t *testing.T) {
	for want, p := range map[string]Flows{
		"":       {Target: "a"},
		"target": {},
		"linger": {Target: "a", Linger: 2 * time.Minute},
		"script": {Target: "a", Script: "flow a end 1s replay file x"},
	} {
		err := p.Validate()
		if want == "" && err != nil || want != "" && (!input.Bad(err) || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%+v: %v, want %s", p, err, want)
		}
	}
	huge := measure.Task{Kind: "flows", Parameters: map[string]any{"script": "flow a end 1h constant rate 1000/s size 64"}}
	if err := Validate(huge); !input.Bad(err) {
		t.Errorf("a task of 3.6 million packets: %v", err)
	}
	for script, want := range map[string]measure.Demand{
		"flow a end 2s constant rate 10/s size 152": {DurationSeconds: 5.1, Bytes: 20 * (152 + wire("a", "", 0)), BitsPerSecond: 16000},
		"flow a end 2s constant rate 10/s size 152; flow b reverse end 1s constant rate 1000/s size 152": { // of the way that has more
			DurationSeconds: 5.1, Bytes: 1020 * (152 + wire("a", "", 0)), BitsPerSecond: 1.6e6, Exclusive: true},
	} {
		want.Responder = measure.ResponderFlows
		p := Flows{Target: "a", Script: script}
		if diff := cmp.Diff(want, p.demand()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", script, diff)
		}
	}
}

// Each flow is drawn over its own time: what was lost wholly has no delay, and what was not sent was not lost.
func TestFlowsDrawing(t *testing.T) {
	over := &measure.FlowOverTime{IntervalSeconds: 0.1, Sent: []int{9, 2, 4, 2, 0}, Received: []int{9, 2, 3, 0, 0}, ReceivedBytes: []int64{900, 100, 250, 0, 0},
		DelayMax: []*float64{new(9.), new(0.001), new(0.002), nil, nil}}
	all := []measure.FlowSample{{Name: "a", Direction: measure.Forward, StartSeconds: 0.1, EndSeconds: 0.5, Arrived: &measure.FlowArrivals{OverTime: over}},
		{Name: "short", EndSeconds: 0.1, Arrived: &measure.FlowArrivals{OverTime: over}}, {Name: "unheard"}}
	want := []string{"over time  rate        up to  loss  up to  delay added    up to",
		"a          ▄█▁▁  20.0 kbit/s  ▁▃█▁  100 %  ▅█x▁         2.00 ms"}
	if diff := cmp.Diff(want, flowsDrawing(all)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := flowsDrawing(all[1:]); got != nil {
		t.Errorf("%q", got)
	}
}
