package probe

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// What another sent and heard is reduced as a ping of its own: answers, losses, errors, duplicates, an answer out of order, one request that could not
// be sent, and one whose fate is open.
func TestPingRecord(t *testing.T) {
	record := NewPingRecord(Ping{Target: "carol", Count: 7, Interval: 10 * time.Millisecond, Timeout: time.Second}, netip.MustParseAddr("127.0.0.9"), "datagram")
	began := time.Unix(1000, 0).UTC()
	for seq := 1; seq <= 7; seq++ {
		record.Sent(seq, began.Add(time.Duration(seq-1)*10*time.Millisecond))
		if seq == 4 {
			record.Unsent()
		}
	}
	answer := func(seq int, rtt float64) {
		record.Settled(measure.Echo{Seq: seq, RTTSeconds: &rtt, TTL: 61}, true)
	}
	answer(2, 0.004)
	answer(1, 0.002)
	answer(1, 0.005) // a duplicate
	answer(4, 0.001) // of nothing that was sent
	answer(8, 0.001)
	record.Settled(measure.Echo{Seq: 3}, false)
	record.Settled(measure.Echo{Seq: 5, From: "192.0.2.1", Error: "host unreachable"}, false)
	answer(6, 0.003)
	r := record.Result(measure.Clock{Synchronized: true}, errors.New("ping carol: ended"))

	at := func(s float64) *float64 { return &s }
	want := []measure.Echo{
		{Seq: 1, RTTSeconds: at(0.002), TTL: 61, Duplicates: 1},
		{Seq: 2, SentSeconds: 0.01, RTTSeconds: at(0.004), TTL: 61},
		{Seq: 3, SentSeconds: 0.02},
		{Seq: 5, SentSeconds: 0.04, From: "192.0.2.1", Error: "host unreachable"},
		{Seq: 6, SentSeconds: 0.05, RTTSeconds: at(0.003), TTL: 61},
	}
	if diff := cmp.Diff(want, r.Samples.Echoes); diff != "" {
		t.Errorf("echoes (-want +got):\n%s", diff)
	}
	metrics := reduceEchoes(want, []uint64{2, 1, 6})
	if metrics[measure.ReorderedPackets] != 1 || metrics[measure.LossBurstMax] != 2 {
		t.Fatalf("the test itself is wrong: %v", metrics)
	}
	for m, v := range metrics {
		if got, ok := r.Get(m); !ok || got != v {
			t.Errorf("%s is %v (%v), want %v", m, got, ok, v)
		}
	}
	if r.Status != measure.StatusPartial || *r.Error != "ping carol: ended" || r.Target != (measure.Endpoint{Name: "carol", Address: "127.0.0.9"}) ||
		r.Source.Address == "" || !r.Started.Equal(began) || r.Parameters["socket"] != "datagram" || r.Parameters["stamps"] != "kernel" ||
		r.Parameters["interval"] != 0.01 || !r.Clock.Synchronized || len(r.Notes) != 1 {
		t.Errorf("%+v", r)
	}
}

// A target that nothing was sent to has failed.
func TestPingRecordOfNothing(t *testing.T) {
	r := NewPingRecord(Ping{Target: "nobody"}, netip.Addr{}, "raw").Result(measure.Clock{}, errors.New("no such host"))
	if r.Status != measure.StatusFailed || *r.Error != "no such host" || r.Target.Address != "" || r.Started.IsZero() {
		t.Errorf("%+v", r)
	}
}
