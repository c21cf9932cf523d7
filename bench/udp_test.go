package main

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the tools print of datagrams, cut to what is read of it.
func TestReadUDPReports(t *testing.T) {
	for _, c := range []struct {
		name    string
		read    func(string) (transfer, error)
		printed string
		want    transfer
	}{
		{"pathwise", readPathwiseUDP, `{"metrics": {"throughput_bits_per_second": 9e8, "received_bytes": 3e8, "sent_bits_per_second": 1e9, "loss_ratio": 0.1,
			"sender_dropped_packets": 2, "receiver_dropped_packets": 40}}`, transfer{BitsPerSecond: 9e8, Bytes: 3e8, SentRate: 1e9, Loss: 0.1, HostLost: 42}},
		{"iperf3", readIperf3UDP, `{"end": {"sum": {"bytes": 263618536, "seconds": 3, "lost_packets": 70769, "packets": 182057},
			"sum_received": {"bytes": 160751168, "bits_per_second": 428370778.5}}}`,
			transfer{BitsPerSecond: 428370778.5, Bytes: 160751168, SentRate: 263618536 * 8. / 3, Loss: 70769. / 182057, HostLost: -1}},
		{"nuttcp", readNuttcp, "megabytes=129.5 real_seconds=2.00 rate_Mbps=542.7 tx_cpu=38 rx_cpu=12 drop=60365 pkt=154072 data_loss=25\n",
			transfer{BitsPerSecond: 542.7e6, Bytes: 129.5 * (1 << 20), SentRate: 154072 * 1448 * 8. / 2, Loss: 0.25, HostLost: -1}},
	} {
		got, err := c.read(c.printed)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if _, err := c.read(`{}`); err == nil {
			t.Errorf("%s: nothing that came is compared", c.name)
		}
	}
}

// Even datagrams are off by nothing and wait for nothing; pieces of several are off by a gap for each but the first, and wait for one another.
func TestSpacing(t *testing.T) {
	even := []piece{{1_000_000, 1}, {1_010_000, 1}, {1_020_000, 1}}
	errs, queue := spacing(even, 10_000)
	if !slices.Equal(errs, []float64{0, 0}) || !slices.Equal(queue, []float64{0, 0, 0}) {
		t.Errorf("even: %v, %v", errs, queue)
	}
	printed := "1763642400.000001000 IP 192.0.2.1.40000 > 192.0.2.2.5201: UDP, length 4344\n" +
		"1763642400.000031000 IP 192.0.2.1.40000 > 192.0.2.2.5201: UDP, bad length 4344 > 1448\n"
	pieces := parsePieces(printed)
	if len(pieces) != 2 || pieces[0].datagrams != 3 {
		t.Fatalf("pieces %v", pieces)
	}
	errs, queue = spacing(pieces, 10_000)
	if !slices.Equal(errs, []float64{10_000, 10_000, 10_000, 10_000, 20_000}) || math.Abs(queue[5]-2*10_000/1.05) > 1e-9 {
		t.Errorf("in pieces of three: %v, %v", errs, queue)
	}
}
