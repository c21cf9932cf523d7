package probe

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/beacon"
)

// threeMembers is a group in which c was heard of, and tells nothing.
func threeMembers() *beacon.Report {
	a, b := beacon.Member{ID: 1, Name: "a", Self: true, Sent: 10}, beacon.Member{ID: 2, Name: "b", Address: netip.MustParseAddr("10.0.0.2"), Sent: 10}
	c := beacon.Member{ID: 3, Name: "c", Sent: 5}
	lossy := beacon.Figures{To: 10, Received: 8, Duplicates: 1, Reordered: 2, MaxExtent: 3, LossRun: 2, Hops: 2, HopsMost: 3,
		Delay:      beacon.Delay{Min: time.Millisecond, Median: 2 * time.Millisecond, P95: 4 * time.Millisecond},
		Variation:  beacon.Variation{PDV: 3 * time.Millisecond, IPDV: 2 * time.Millisecond},
		ClockError: time.Second, ClockKnown: true}
	gone := beacon.Figures{From: 0, To: 5, LossRun: 5, Hops: -1, HopsMost: -1}
	one := beacon.Figures{To: 10, Received: 1, LossRun: 9, Hops: -1, HopsMost: -1, Delay: beacon.Delay{Min: -time.Hour, Median: -time.Hour, P95: -time.Hour}}
	return &beacon.Report{Members: []beacon.Member{a, b, c}, Pairs: []beacon.Pair{
		{Sender: a, Receiver: b, Told: true, Final: true, Figures: lossy}, {Sender: a, Receiver: c},
		{Sender: b, Receiver: a, Told: true, Figures: one}, {Sender: b, Receiver: c},
		{Sender: c, Receiver: a, Told: true, Figures: gone}, {Sender: c, Receiver: b},
	}}
}

// The samples have all that the tables show.
func TestGroupSamples(t *testing.T) {
	report := threeMembers()
	r := newResult("beacon", "239.255.86.3")
	r.Samples.Members, r.Samples.Pairs = groupSamples(report)
	want := []measure.MemberPair{
		{From: 0, To: 1, Final: true, Sent: 10, Received: 8, Duplicates: 1, Reordered: 2, ExtentMax: 3, BurstMax: 2, HopsMin: new(2), HopsMax: new(3),
			DelayMinSeconds: new(0.001), DelayMedianSeconds: new(0.002), DelayP95Seconds: new(0.004), PDVP95Seconds: new(0.003),
			IPDVP95Seconds: new(0.002), ClockErrorSeconds: new(1.)},
		{From: 1, To: 0, Sent: 10, Received: 1, BurstMax: 9, DelayMinSeconds: new(-3600.), DelayMedianSeconds: new(-3600.), DelayP95Seconds: new(-3600.)},
		{From: 2, To: 0, Sent: 5, BurstMax: 5},
	}
	if diff := cmp.Diff(want, r.Samples.Pairs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	members := []measure.Member{{ID: "0000000000000001", Name: "a", Self: true, Sent: 10}, {ID: "0000000000000002", Name: "b", Address: "10.0.0.2", Sent: 10},
		{ID: "0000000000000003", Name: "c", Sent: 5}}
	if diff := cmp.Diff(members, r.Samples.Members); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again := reportOf(&r.Samples)
	for _, q := range beacon.Quantities {
		if diff := cmp.Diff(report.Table(q), again.Table(q)); diff != "" {
			t.Errorf("%s (-report +samples):\n%s", q, diff)
		}
	}
	reduceGroup(r)
	metrics := map[measure.Metric]float64{measure.GroupMembers: 3, measure.GroupUntold: 3, measure.GroupLossWorst: 1, measure.GroupDelayWorst: 0.002,
		measure.SentPackets: 25, measure.ReceivedPackets: 9, measure.LostPackets: 16, measure.LossRatio: 0.64, measure.DuplicatePackets: 1,
		measure.ReorderedPackets: 2, measure.ReorderingRatio: 2. / 9}
	if diff := cmp.Diff(metrics, r.Metrics, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var text strings.Builder
	WriteText(&text, r)
	for _, want := range []string{"3 members, 16 of 25 probes lost (64.0 %), 1 duplicates, 2 reordered", "reordered, probes", "90.0~"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
}

// Alone there are no pairs, and that is said.
func TestBeaconAlone(t *testing.T) {
	r, err := Beacon{Group: "239.255.86.4", Interface: "lo", Count: 1, Interval: 10 * time.Millisecond}.Do(t.Context())
	if err != nil || r.Metrics[measure.GroupMembers] != 1 || len(r.Samples.Pairs) != 0 || len(r.Notes) != 1 {
		t.Errorf("%v, metrics %v, pairs %v, notes %q", err, r.Metrics, r.Samples.Pairs, r.Notes)
	}
	for want, p := range map[string]Beacon{"group": {Group: "10.0.0.1"}, "239.1": {Group: "239.1"}, "size": {Size: 10}, "no such interface": {Interface: "none0"}} {
		if _, err := p.Do(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", p, err)
		}
	}
}
