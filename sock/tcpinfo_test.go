package sock

import (
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// captured is what Linux 6.18 returned for a loopback connection that had sent 3,000,000 bytes and got 1,000.
func captured(t testing.TB) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/tcp_info_linux_6.18.bin")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestParseTCPInfo(t *testing.T) {
	want := map[string]float64{
		"advmss_bytes":                  65483,
		"ato_seconds":                   0.04,
		"backoff":                       0,
		"busy_seconds":                  0.004,
		"bytes_acked":                   3.000001e+06,
		"bytes_received":                1000,
		"bytes_retrans":                 0,
		"bytes_sent":                    3e+06,
		"ca_state":                      0,
		"data_segs_in":                  1,
		"data_segs_out":                 67,
		"delivered":                     68,
		"delivered_ce":                  0,
		"delivery_rate_app_limited":     0,
		"delivery_rate_bits_per_second": 5.632e+10,
		"dsack_dups":                    0,
		"last_ack_recv_seconds":         0,
		"last_data_recv_seconds":        0,
		"last_data_sent_seconds":        0,
		"lost_packets":                  0,
		"min_rtt_seconds":               8e-06,
		"notsent_bytes":                 0,
		"options":                       7,
		"pacing_rate_bits_per_second":   6.9696e+10,
		"pmtu_bytes":                    65535,
		"probes_packets":                0,
		"rcv_mss_bytes":                 1000,
		"rcv_ooopack":                   0,
		"rcv_space_bytes":               65495,
		"rcv_ssthresh_bytes":            70173,
		"rcv_wnd_bytes":                 70656,
		"receive_wscale":                10,
		"rehash":                        0,
		"reord_seen":                    0,
		"reordering_packets":            3,
		"retrans_packets":               0,
		"retransmits_packets":           0,
		"rto_seconds":                   0.204,
		"rtt_seconds":                   5.3e-05,
		"rttvar_seconds":                5e-06,
		"rwnd_limited_seconds":          0,
		"sacked_packets":                0,
		"segs_in":                       66,
		"segs_out":                      70,
		"send_wscale":                   10,
		"snd_cwnd_packets":              12,
		"snd_mss_bytes":                 56320,
		"snd_ssthresh_packets":          8,
		"snd_wnd_bytes":                 112640,
		"sndbuf_limited_seconds":        0,
		"state":                         1,
		"total_retrans_packets":         0,
		"total_rto":                     0,
		"total_rto_recoveries":          0,
		"total_rto_time_seconds":        0,
		"unacked_packets":               0,
	}
	if diff := cmp.Diff(want, ParseTCPInfo(captured(t)).Values()); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestParseTCPInfoFields(t *testing.T) {
	got := ParseTCPInfo(captured(t))
	got.present = 0
	want := TCPInfo{
		State: 1, Options: OptTimestamps | OptSACK | OptWscale, SendWscale: 10, ReceiveWscale: 10,
		RTO: 204 * time.Millisecond, ATO: 40 * time.Millisecond, SndMSS: 56320, RcvMSS: 1000, PMTU: 65535,
		RcvSsthresh: 70173, RTT: 53 * time.Microsecond, RTTVar: 5 * time.Microsecond, SndSsthresh: 8, SndCwnd: 12,
		AdvMSS: 65483, Reordering: 3, RcvSpace: 65495, PacingRate: 69_696_000_000, BytesAcked: 3_000_001,
		BytesReceived: 1000, SegsOut: 70, SegsIn: 66, MinRTT: 8 * time.Microsecond, DataSegsIn: 1, DataSegsOut: 67,
		DeliveryRate: 56_320_000_000, Busy: 4 * time.Millisecond, Delivered: 68, BytesSent: 3_000_000, SndWnd: 112640,
		RcvWnd: 70656,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(TCPInfo{})); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

// A kernel that returns fewer bytes gives fewer fields, and what it gives stays the same.
func TestParseTCPInfoTruncated(t *testing.T) {
	raw := captured(t)
	full := ParseTCPInfo(raw).Values()
	tests := []struct {
		length  int
		present int
		last    Field // the last that fits
		first   Field // the first that does not
	}{
		{length: 0, present: 0, first: FieldState},
		{length: 1, present: 1, last: FieldState, first: FieldCAState},
		{length: 7, present: 8, last: FieldReceiveWscale, first: FieldDeliveryRateAppLimited},
		{length: 11, present: 9, last: FieldDeliveryRateAppLimited, first: FieldRTO},
		{length: 104, present: 30, last: FieldTotalRetrans, first: FieldPacingRate}, // Linux 2.6
		{length: 192, present: 43, last: FieldSndbufLimited, first: FieldDelivered}, // Linux 4.10
		{length: 232, present: 51, last: FieldSndWnd, first: FieldRcvWnd},           // Linux 5.4
		{length: 240, present: 53, last: FieldRehash, first: FieldTotalRTO},         // Linux 6.2
		{length: 241, present: 53, last: FieldRehash, first: FieldTotalRTO},
		{length: 247, present: 55, last: FieldTotalRTORecoveries, first: FieldTotalRTOTime},
		{length: 248, present: 56, last: FieldTotalRTOTime, first: FieldMaxPacingRate},
	}
	for _, test := range tests {
		info := ParseTCPInfo(raw[:test.length])
		values := info.Values()
		if len(values) != test.present {
			t.Errorf("%d bytes: %d fields, want %d", test.length, len(values), test.present)
		}
		if test.present > 0 && !info.Has(test.last) || info.Has(test.first) {
			t.Errorf("%d bytes: has %d = %v, has %d = %v; want true, false", test.length,
				test.last, info.Has(test.last), test.first, info.Has(test.first))
		}
		for name, value := range values {
			if full[name] != value {
				t.Errorf("%d bytes: %s = %v, want %v", test.length, name, value, full[name])
			}
		}
	}
}

// The kernel says "none" by values of its own; they must not come out as numbers.
func TestParseTCPInfoAbsent(t *testing.T) {
	raw := make([]byte, 248)
	for _, rate := range []int{104, 112} { // pacing_rate, max_pacing_rate: unlimited
		copy(raw[rate:], []byte{255, 255, 255, 255, 255, 255, 255, 255})
	}
	copy(raw[76:], []byte{255, 255, 255, 127})  // snd_ssthresh: infinite
	copy(raw[148:], []byte{255, 255, 255, 255}) // min_rtt: no sample
	copy(raw[72:], []byte{144, 208, 3, 0})      // rttvar: its start value, while rtt is 0
	info := ParseTCPInfo(raw)
	for _, f := range []Field{FieldPacingRate, FieldMaxPacingRate, FieldSndSsthresh, FieldMinRTT, FieldRTT, FieldRTTVar,
		FieldRcvRTT, FieldDeliveryRate} {
		if info.Has(f) {
			t.Errorf("%s is present, want absent", layout[f].name)
		}
	}
	for _, f := range []Field{FieldLost, FieldBusy, FieldTotalRTO, FieldDeliveryRateAppLimited} {
		if !info.Has(f) {
			t.Errorf("%s is absent, want a present zero", layout[f].name)
		}
	}
}

// Bit fields take nothing from their neighbours.
func TestParseTCPInfoBitFields(t *testing.T) {
	got := ParseTCPInfo([]byte{0, 0, 0, 0, 0, 0, 0x7e, 0b101})
	want := TCPInfo{present: 1<<FieldRTO - 1, SendWscale: 14, ReceiveWscale: 7, DeliveryRateAppLimited: true}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(TCPInfo{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadTCPInfoLive(t *testing.T) {
	client, server := connection(t, "127.0.0.1")
	const sent = 1 << 20
	send(t, client, server, sent)
	sender, err := ReadTCPInfo(raw(t, client))
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := ReadTCPInfo(raw(t, server))
	if err != nil {
		t.Fatal(err)
	}
	if sender.State != 1 || !sender.Has(FieldRTT) || sender.RTT <= 0 || sender.RTT > time.Second {
		t.Errorf("sender: state %d, RTT %v (has: %v)", sender.State, sender.RTT, sender.Has(FieldRTT))
	}
	if sender.BytesSent < sent {
		t.Errorf("sender sent %d bytes, want at least %d", sender.BytesSent, sent)
	}
	if receiver.BytesReceived != sent {
		t.Errorf("receiver got %d bytes, want %d", receiver.BytesReceived, sent)
	}
	if sender.MaxPacingRate != 0 || sender.Has(FieldMaxPacingRate) {
		t.Errorf("maximum pacing rate %d, want absent", sender.MaxPacingRate)
	}
}

func TestReadTCPInfoOfClosed(t *testing.T) {
	client, _ := connection(t, "127.0.0.1")
	c := raw(t, client)
	client.Close()
	if _, err := ReadTCPInfo(c); err == nil {
		t.Error("no error for a closed connection")
	}
}

func FuzzParseTCPInfo(f *testing.F) {
	f.Add(captured(f))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		values := ParseTCPInfo(raw).Values()
		for name, v := range values {
			if v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s = %v", name, v)
			}
		}
		if longer := ParseTCPInfo(append(slices.Clone(raw), 1)).Values(); len(longer) < len(values) {
			t.Errorf("%d fields in %d bytes, %d in one more", len(values), len(raw), len(longer))
		}
	})
}

func BenchmarkParseTCPInfo(b *testing.B) {
	raw := captured(b)
	b.ReportAllocs()
	for b.Loop() {
		ParseTCPInfo(raw)
	}
}
