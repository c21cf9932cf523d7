package probe

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// A search is by trials where only its flag is given, as in mesh files of before, or within one test.
func TestSearchField(t *testing.T) {
	for text, want := range map[string]string{"true": SearchTrials, "false": "", "trials": SearchTrials, "rfc9097": SearchRFC9097} {
		p := Throughput{Search: "before"}
		if wrong := searchField().set(&p, text); wrong != "" || p.Search != want {
			t.Errorf("%s: %q %s", text, p.Search, wrong)
		}
	}
	var p Throughput
	if wrong := searchField().set(&p, true); wrong != "" || p.Search != SearchTrials {
		t.Errorf("yes: %q %s", p.Search, wrong)
	}
	if wrong := searchField().set(&p, "rfc9079"); wrong != "give trials or rfc9097" {
		t.Errorf("a search that there is not: %s", wrong)
	}
	for name, bad := range map[string]*Throughput{
		"search": {Target: "a", Search: SearchRFC9097, Config: iperf3.Config{Proto: iperf3.TCP}}, "search rfc9097": {Target: "a", Search: SearchRFC9097, Config: iperf3.Config{Parallel: 2}},
		"duration": {Target: "a", Search: SearchRFC9097, Config: iperf3.Config{Duration: time.Second}},
		"narrow":   {Target: "a", Search: SearchRFC9097, Narrow: 0.1},
	} {
		if err := bad.Validate(); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := (&Throughput{Search: SearchRFC9097}).demand()
	if want := (measure.Demand{DurationSeconds: 11, Exclusive: true, Responder: measure.ResponderIperf3}); d != want {
		t.Errorf("demand %+v, want %+v", d, want)
	}
}

// The Result of a search is that of its best second, in which the rate of IP packets is higher than goodput by their headers.
func TestFillSearch(t *testing.T) {
	report := &iperf3.Report{Config: iperf3.Config{Rate: 500_000, Reverse: true}, Remote: netip.MustParseAddrPort("[2001:db8::1]:5201"),
		Peer: &iperf3.Hello{Search: &iperf3.HelloSearch{Most: 10_000_000}},
		Streams: []iperf3.StreamReport{{LocalExtra: &iperf3.StreamExtra{SubIntervals: []iperf3.SubInterval{
			{Bytes: 1_000_000, Packets: 1000, LeastSeconds: 0, MeanSeconds: 0.001, MostSeconds: 0.002},
			{Bytes: 1_200_000, Packets: 1200, Lost: 24, Reordered: 2, Duplicates: 24, LeastSeconds: 0.001, MeanSeconds: 0.002, MostSeconds: 0.004},
			{Bytes: 1_100_000, Packets: 1100},
		}}}}}
	r := newResult("throughput", "h")
	r.Parameters["length"] = 952.
	r.Metrics = map[measure.Metric]float64{measure.SentRate: 1, measure.Jitter: 1, measure.LossRatio: 0.2, measure.LostPackets: 700, measure.LossPeriodMean: 3, measure.ReceivedBytes: 3e6}
	fillSearch(r, report)
	want := map[measure.Metric]float64{measure.MaxIPCapacity: 9.6e6, measure.Throughput: 9.6e6 * 0.952, measure.ReceivedBytes: 3e6, measure.SentPackets: 1200,
		measure.ReceivedPackets: 1176, measure.LostPackets: 24, measure.LossRatio: 0.02, measure.ReorderedPackets: 2, measure.DuplicatePackets: 24}
	if diff := cmp.Diff(want, r.Metrics); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	samples := &measure.CapacitySearch{PacketBytes: 1000, StartBitsPerSecond: 500_000, MostBitsPerSecond: 10_000_000, FeedbackSeconds: 0.05, LowDelaySeconds: 0.03,
		HighDelaySeconds: 0.09, SequenceErrors: 10, Best: 1, SubIntervals: []measure.SubInterval{
			{StartSeconds: 0, EndSeconds: 1, BitsPerSecond: 8e6, Packets: 1000, MeanDelay: 0.001, MostDelay: 0.002},
			{StartSeconds: 1, EndSeconds: 2, BitsPerSecond: 9.6e6, Packets: 1200, LostPackets: 24, ReorderedPackets: 2, DuplicatePackets: 24, LeastDelay: 0.001, MeanDelay: 0.002,
				MostDelay: 0.004},
			{StartSeconds: 2, EndSeconds: 3, BitsPerSecond: 8.8e6, Packets: 1100},
		}}
	if diff := cmp.Diff(samples, r.Samples.Search); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if want := "the sender goes no higher than 10.0 Mbit/s: the path may carry more"; len(r.Notes) != 1 || r.Notes[0] != want {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
	var out bytes.Buffer
	searchText(&out, r)
	for _, want := range []string{"1 - 2 s", "9.60 Mbit/s", "1.00 ms to 4.00 ms  most", "IP-layer capacity      9.60 Mbit/s of IP packets of 1000 bytes (RFC 9097)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, out.String())
		}
	}
	fillSearch(newResult("throughput", "h"), &iperf3.Report{}) // of a test that brought nothing
}
