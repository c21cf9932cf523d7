package ndt7

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/sock"
)

// The example of the specification, and what servers may send that it does not name or that has no value.
func TestParse(t *testing.T) {
	all := TCPInfo{"BusyTime": 1234, "BytesAcked": 1234, "BytesReceived": 1234, "BytesSent": 1234, "BytesRetrans": 1234, "ElapsedTime": 1234,
		"MinRTT": 1234, "RTT": 1234, "RTTVar": 1234, "RWndLimited": 1234, "SndBufLimited": 1234}
	for text, want := range map[string]Measurement{
		`{"AppInfo":{"ElapsedTime":1234,"NumBytes":1234},"ConnectionInfo":{"Client":"1.2.3.4:5678","Server":"[::1]:2345","UUID":"x",
			"StartTime":"2019-07-16T15:26:05.987748459-04:00"},"Origin":"server","Test":"download","TCPInfo":{"BusyTime":1234,"BytesAcked":1234,
			"BytesReceived":1234,"BytesSent":1234,"BytesRetrans":1234,"ElapsedTime":1234,"MinRTT":1234,"RTT":1234,"RTTVar":1234,"RWndLimited":1234,
			"SndBufLimited":1234}}`: {AppInfo: &AppInfo{1234, 1234}, ConnectionInfo: &ConnectionInfo{"1.2.3.4:5678", "[::1]:2345", "x",
			"2019-07-16T15:26:05.987748459-04:00"}, Origin: "server", Test: "download", TCPInfo: all},
		`{}`:                              {},
		`{"TCPInfo":{},"AppInfo":null}`:   {},
		`{"BBRInfo":{"BW":1},"Later":[]}`: {},
		`{"TCPInfo":{"RTT":18446744073709551615,"MinRTT":-1,"BytesSent":"many","BytesAcked":1.5,"BytesReceived":1e6,"State":1,"BusyTime":null}}`: {
			TCPInfo: TCPInfo{"BytesReceived": 1e6}},
		`{"AppInfo":{"NumBytes":9007199254740993,"ElapsedTime":12}}`: {AppInfo: &AppInfo{ElapsedTime: 12}},
	} {
		if got, err := Parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"", "x", `[]`, `{"TCPInfo":7}`, `{"AppInfo":"x"}`, `{"Origin":1}`, `{}` + strings.Repeat(" ", MostText)} {
		if got, err := Parse([]byte(text)); err == nil {
			t.Errorf("%.20s: %+v", text, got)
		}
	}
}

// What the kernel has no value for is left out, and what it has goes there and back in the units of each side.
func TestTCPInfo(t *testing.T) {
	raw := make([]byte, 248)
	order := binary.LittleEndian
	order.PutUint32(raw[68:], 20_000)                                     // rtt
	order.PutUint32(raw[72:], 300)                                        // rttvar
	order.PutUint64(raw[120:], math.MaxUint64)                            // bytes_acked: none
	order.PutUint64(raw[128:], 1<<53)                                     // bytes_received: more than a double holds
	order.PutUint32(raw[148:], math.MaxUint32)                            // min_rtt: none
	order.PutUint64(raw[168:], 7_000_000)                                 // busy_time
	order.PutUint64(raw[200:], 1<<53-1)                                   // bytes_sent
	got := TCPInfoOf(sock.ParseTCPInfo(raw[:208]), 1500*time.Millisecond) // an old kernel knows of no bytes_retrans
	want := TCPInfo{"ElapsedTime": 1_500_000, "RTT": 20_000, "RTTVar": 300, "BusyTime": 7_000_000, "RWndLimited": 0, "SndBufLimited": 0,
		"BytesSent": 1<<53 - 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	values := map[string]float64{"rtt_seconds": 0.02, "rttvar_seconds": 0.0003, "busy_seconds": 7, "rwnd_limited_seconds": 0,
		"sndbuf_limited_seconds": 0, "bytes_sent": 1<<53 - 1}
	if diff := cmp.Diff(values, got.Values()); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	text, err := Encode(Measurement{TCPInfo: got, Test: Upload})
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Parse(text); err != nil || !cmp.Equal(back, Measurement{TCPInfo: got, Test: Upload}) {
		t.Errorf("%s: read as %+v (%v)", text, back, err)
	}
	for _, f := range tcpFields { // the names of values are those that sock has
		if _, has := sock.ParseTCPInfo(make([]byte, 280)).Values()[f.value]; !has && f.field != sock.FieldRTT && f.field != sock.FieldRTTVar {
			t.Errorf("%s: sock knows of no %s", f.name, f.value)
		}
	}
}

// Messages double when they are no more than a sixteenth of what was sent, up to what clients take.
func TestNextSize(t *testing.T) {
	sizes, total := map[int]int64{}, int64(0)
	for size := firstMessage; total < 1<<26; {
		if sizes[size] == 0 {
			sizes[size] = total
		}
		total += int64(size)
		size = nextSize(size, total)
	}
	want := map[int]int64{1 << 13: 1 << 13}
	for size := 1 << 14; size <= 1<<20; size *= 2 {
		want[size] = int64(size) / 2 * growAt
	}
	if diff := cmp.Diff(want, sizes); diff != "" {
		t.Errorf("bytes sent before the first message of a size (-want +got):\n%s", diff)
	}
}

// Whatever comes is read or refused, and what was read is the same when it is sent and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"AppInfo":{"ElapsedTime":1,"NumBytes":2},"TCPInfo":{"RTT":3,"ElapsedTime":4},"Origin":"server"}`))
	f.Add([]byte(`{"TCPInfo":{"BytesReceived":1e300}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Parse(again); err != nil || !cmp.Equal(m, back) {
			t.Errorf("%s: then %+v (%v), before %+v", again, back, err, m)
		}
		for name, v := range m.TCPInfo.Values() {
			if v < 0 || v > mostExact {
				t.Errorf("%s is %g", name, v)
			}
		}
	})
}
