package probe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

func TestReduceTransactions(t *testing.T) {
	took := func(s float64) measure.Transaction { return measure.Transaction{Seconds: &s} }
	for name, c := range map[string]struct {
		all    []measure.Transaction
		opened []float64
		want   map[measure.Metric]float64
	}{
		"none": {nil, []float64{1}, map[measure.Metric]float64{}},
		"all failed": {[]measure.Transaction{{Error: "x"}, {Error: "x"}}, nil,
			map[measure.Metric]float64{measure.TransactionsDone: 0, measure.TransactionsFailed: 2}},
		"one waited, one failed": {[]measure.Transaction{took(.02), took(.26), took(.02), {Error: "x"}}, []float64{.01, 1.01},
			map[measure.Metric]float64{
				measure.TransactionsDone: 3, measure.TransactionsFailed: 1, measure.TransactionMin: .02, measure.TransactionMedian: .02,
				measure.TransactionP95: .26, measure.TransactionMax: .26,
				measure.ConnectMin: .01, measure.ConnectMedian: .51, measure.ConnectMax: 1.01}},
	} {
		if diff := cmp.Diff(c.want, reduceTransactions(c.all, c.opened), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What cannot be is refused by name, before anything is sent.
func TestTransactValidate(t *testing.T) {
	for want, p := range map[string]Transact{
		"":         {Target: "a"},
		"target":   {},
		"request":  {Target: "a", Request: 23},
		"response": {Target: "a", Response: 1 << 25},
		"writes":   {Target: "a", Request: 50, Writes: 51},
		"turns":    {Target: "a", Turns: 87, Count: 1000},
		"interval": {Target: "a", New: true, Interval: 2 * time.Millisecond},
		"tls":      {Target: "a", TLS: true},
		"quickack": {Target: "a", QuickAck: "late"},
		"timeout":  {Target: "a", Timeout: 2 * time.Minute},
	} {
		err := p.Validate()
		if want == "" && err != nil || want != "" && (!input.Bad(err) || !strings.HasPrefix(err.Error(), want+" ")) {
			t.Errorf("%+v: %v, want %s", p, err, want)
		}
	}
}

// A run that nobody waits for keeps to its place in a plan: what it may take is planned, and is what the responder is asked for.
func TestTransactKeepsToItsPlan(t *testing.T) {
	p := Transact{Target: "a", Count: 11, Interval: 500 * time.Millisecond, Timeout: 2 * time.Second}
	d := p.demand()
	want := measure.Demand{DurationSeconds: 10, Bytes: 11 * 2 * (190 + 90),
		BitsPerSecond: 8 * (190 + 90) / .5, Responder: measure.ResponderTransact}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.bound()
	if all := p.withDefaults(); all.longest() != 10*time.Second {
		t.Errorf("asks for %v", all.longest())
	}
	attended := Transact{Count: 1000}.withDefaults()
	if attended.longest() != transactLongest {
		t.Errorf("attended, it asks for %v", attended.longest())
	}
	large := Transact{Target: "a", Request: 1 << 20, Interval: time.Second}
	if d := large.demand(); !d.Exclusive || d.BitsPerSecond < 8e6 {
		t.Errorf("8 Mbit/s: %+v", d)
	}
}

// What people read names what came on top of the path, and where.
func TestTransactText(t *testing.T) {
	r := measure.NewResult("transact", time.Now())
	r.Target = measure.Endpoint{Name: "b", Address: "10.0.0.2"}
	r.Parameters = map[string]any{"request": 202., "response": 100., "writes": 2., "turns": 3.}
	r.Metrics = map[measure.Metric]float64{measure.TransactionsDone: 9, measure.TransactionsFailed: 1, measure.TransactionMin: .063,
		measure.TransactionMedian: .064, measure.TransactionP95: .065, measure.TransactionMax: .066, measure.ConnectMin: .02,
		measure.ConnectMedian: .02, measure.ConnectMax: .021, measure.TransactionIdeal: .02, measure.RequestGather: .05, measure.Retransmits: 1}
	var b strings.Builder
	transactText(&b, r)
	want := `b (10.0.0.2): 10 transactions, 1 failed; 202 B in 2 writes, 100 B back, in 3 turns
transaction min/median/p95/max = 63.0 ms / 64.0 ms / 65.0 ms / 66.0 ms
connection opened min/median/max = 20.0 ms / 20.0 ms / 21.0 ms
the path alone takes 20.0 ms, the usual one 44.0 ms more
the far end waited 50.0 ms for the rest of a request
1 packet sent again
cause: Nagle's algorithm held the second write for an acknowledgement in each turn: a round trip of 6.67 ms, delayed by 8.00 ms; one write or --nodelay saves that
cost of turns: 3 at a round trip of 6.67 ms are 20.0 ms; all in one turn takes about 6.67 ms, 1 round trip with slow start
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The handshake of TLS that is told is the middle one by its length, not by its turn.
func TestTransactHandshakeMedian(t *testing.T) {
	second := 1.0
	r := transactRun{all: []measure.Transaction{{Seq: 1, Seconds: &second}}, secured: []float64{0.3, 0.1, 0.2}}
	result := &measure.Result{}
	if r.report(result); result.Metrics[measure.HandshakeTime] != 0.2 {
		t.Errorf("%v, want 0.2", result.Metrics[measure.HandshakeTime])
	}
}
