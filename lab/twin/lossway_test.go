package twin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/measure"
)

// What is random loss and what the queue's: way by way, from transfers, echoes and datagrams.
func TestLossOfWay(t *testing.T) {
	datagrams := result("throughput")
	datagrams.Parameters = map[string]any{"proto": "udp", "reverse": false}
	datagrams.Metrics = map[measure.Metric]float64{measure.SentPackets: 1000, measure.LostPackets: 3, measure.SentRate: 1e6}
	const line = linkPayload * 1538 / 1448
	slow := course(1, everyTwentieth)
	short := course(1, steadyButShort)
	window := view(course(1, alone)).window()
	segments := view(slow).sent
	for _, c := range []struct {
		name    string
		results []*measure.Result
		line    float64
		echoes  tally
		want    wayLoss
	}{
		{"nothing", nil, line, tally{}, wayLoss{most: 1}},
		{"kept full: no more than it bears", []*measure.Result{course(1, alone)}, line, tally{},
			wayLoss{most: 1 / window / window}},
		{"kept full, but datagrams tell", []*measure.Result{course(1, alone), datagrams}, line, tally{},
			wayLoss{ratio: 0.003, by: "datagrams lost", most: 1}},
		{"filled at times: what it lost when it was not full", []*measure.Result{course(1, atTimes)}, line, tally{},
			wayLoss{ratio: 3 / (79 * 0.05 * 10e6 / 8 / 1448), by: "TCP had to repeat", most: 1}},
		{"filled none", []*measure.Result{slow}, line, tally{}, wayLoss{ratio: 19 / segments, by: "TCP had to repeat", most: 1}},
		{"echoes lost as much", []*measure.Result{slow}, line, tally{400, 20, 20},
			wayLoss{ratio: 19 / segments, by: "TCP had to repeat", most: 1}},
		{"echoes lost less: a short queue's", []*measure.Result{short}, line, tally{sent: 2000}, wayLoss{most: 1}},
		{"a short queue's, of a link not known: each time once", []*measure.Result{short}, 0, tally{sent: 2000},
			wayLoss{ratio: 9 / (99 * 0.05 * 6.25e6 / 8 / 1448), by: "TCP had to repeat", most: 1}},
		{"more at a time than losses by themselves: each time once", []*measure.Result{short}, line, tally{},
			wayLoss{ratio: 9 / (99 * 0.05 * 6.25e6 / 8 / 1448), by: "TCP had to repeat", most: 1}},
	} {
		e, err := gather(append(c.results, echoes(c.echoes)))
		if err != nil {
			t.Fatal(err)
		}
		got := e.lossOfWay(false, c.line, c.echoes)
		got.notes = nil
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(wayLoss{}), cmpopts.EquateApprox(0.02, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestDivideLoss(t *testing.T) {
	type division struct{ Forward, Reverse float64 }
	unknown, kept := wayLoss{most: 1}, wayLoss{most: 0.0001}
	counted := wayLoss{ratio: 0.02, by: "datagrams lost", most: 1}
	for _, c := range []struct {
		name string
		both float64
		ways [2]wayLoss
		want division
	}{
		{"nothing known", 0.0199, [2]wayLoss{unknown, unknown}, division{0.01, 0.01}},
		{"nothing lost", 0, [2]wayLoss{unknown, kept}, division{}},
		{"both counted, whatever echoes say", 0.01, [2]wayLoss{counted, counted}, division{0.02, 0.02}},
		{"one counted", 0.0298, [2]wayLoss{counted, unknown}, division{0.02, 0.01}},
		{"one counted, more than echoes lost", 0.01, [2]wayLoss{unknown, counted}, division{0, 0.02}},
		{"one counted, the other kept full", 0.0298, [2]wayLoss{counted, kept}, division{0.02, 0.0001}},
		{"one kept full", 0.0298, [2]wayLoss{unknown, kept}, division{0.029703, 0.0001}},
		{"one kept full that bears more", 0.0199, [2]wayLoss{{most: 0.02}, unknown}, division{0.01, 0.01}},
		{"both kept full, though echoes were lost", 0.0199, [2]wayLoss{kept, kept}, division{0.01, 0.01}},
	} {
		var got division
		got.Forward, got.Reverse, _ = divideLoss(c.both, c.ways)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0.001, 1e-9)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// A transfer that losses held tells no rate, and one the other way that kept the link full has no part of these losses,
// though TCP repeated there, too: its queue dropped that.
func TestQueueDropsCountOnce(t *testing.T) {
	back := course(1, alone)
	back.Parameters["reverse"] = true
	for i := range back.Samples.TCPInfo {
		back.Samples.TCPInfo[i].Direction = measure.Reverse
	}
	_, spec := mustTwin(t, echoes(tally{sent: 400, lost: 22}), course(1, everyTwentieth), back)
	l := spec.Links[0]
	if l.Rate == nil || *l.Rate != 20e6 {
		t.Errorf("rate %v, want the 20 Mbit/s of the transfer in reverse", l.Rate)
	}
	if want := chance.Independent(0.04829); l.Forward == nil || !cmp.Equal(want, l.Forward.Loss) {
		t.Errorf("forward %v, want a loss of %v alone", l.Forward, want)
	}
	const borne = 0.0001
	if l.Reverse == nil || l.Reverse.Queue == nil || l.Reverse.Loss != nil && *l.Reverse.Loss.Ratio > notation.Ratio(borne) {
		t.Errorf("reverse %v, want a queue, and hardly a loss", l.Reverse)
	}
}
