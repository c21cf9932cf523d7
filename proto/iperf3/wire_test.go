package iperf3

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// captured reads what one end of a stock iperf3 3.12 sent on its control connection.
func captured(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// walkServer reads what a server sends: states, one frame after EXCHANGE_RESULTS, a hello after PATHWISE.
func walkServer(r io.Reader) (states []State, results Results, err error) {
	for {
		s, err := ReadState(r)
		if errors.Is(err, io.EOF) {
			return states, results, nil
		}
		if err != nil {
			return states, results, err
		}
		states = append(states, s)
		switch s {
		case ExchangeResults:
			text, err := ReadFrame(r, MaxResultsSize)
			if err != nil {
				return states, results, err
			}
			if results, err = DecodeResults(text); err != nil {
				return states, results, err
			}
		case Pathwise:
			text, err := ReadFrame(r, MaxParamsSize)
			if err != nil {
				return states, results, err
			}
			if _, err := DecodeHello(text); err != nil {
				return states, results, err
			}
		case ServerError:
			e, err := ReadPeerError(r)
			if err != nil {
				return states, results, err
			}
			return states, results, e
		}
	}
}

// walkClient reads what a client sends.
func walkClient(r io.Reader) (p Params, states []State, results Results, err error) {
	var cookie Cookie
	if _, err = io.ReadFull(r, cookie[:]); err != nil {
		return
	}
	text, err := ReadFrame(r, MaxParamsSize)
	if err != nil {
		return
	}
	if p, err = DecodeParams(text); err != nil {
		return
	}
	for {
		s, err := ReadState(r)
		if errors.Is(err, io.EOF) {
			return p, states, results, nil
		}
		if err != nil {
			return p, states, results, err
		}
		states = append(states, s)
		if s != TestEnd {
			continue
		}
		if text, err = ReadFrame(r, MaxResultsSize); err != nil {
			return p, states, results, err
		}
		if results, err = DecodeResults(text); err != nil {
			return p, states, results, err
		}
	}
}

func TestCapturedServer(t *testing.T) {
	states, results, err := walkServer(bytes.NewReader(captured(t, "tcp-reverse-3.12.server")))
	if err != nil {
		t.Fatal(err)
	}
	want := []State{ParamExchange, CreateStreams, TestStart, TestRunning, ExchangeResults, DisplayResults}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	wantResults := Results{
		CPUTotal: 1.9815025143847427, CPUSystem: 1.9815025143847427, SenderHasRetransmits: 1, CongestionUsed: "bbr",
		Streams: []StreamResult{{ID: 1, Bytes: 1310720, EndTime: 1.039795}},
	}
	if diff := cmp.Diff(wantResults, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestCapturedClients(t *testing.T) {
	tests := map[string]struct {
		params  Params
		streams []StreamResult
	}{
		"tcp-parallel-3.12.client": {
			Params{TCP: true, Time: 1, MSS: 1400, NoDelay: true, Parallel: 2, Window: 65536, Len: 131072,
				Bandwidth: 10_000_000, PacingTimer: 1000, TOS: 32, Congestion: "cubic", ClientVersion: "3.12"},
			[]StreamResult{{ID: 1, Bytes: 1310720, EndTime: 1.000086}, {ID: 3, Bytes: 1310720, EndTime: 1.000092}},
		},
		"tcp-reverse-3.12.client": {
			Params{TCP: true, Time: 1, Parallel: 1, Reverse: true, Len: 131072, Bandwidth: 10_000_000, PacingTimer: 1000, ClientVersion: "3.12"},
			[]StreamResult{{ID: 1, Bytes: 1310720, Retransmits: -1, EndTime: 1.000155}}, // -1 is 18446744073709551615 there
		},
		"tcp-bidir-3.12.client": {
			Params{TCP: true, Num: 102400, Parallel: 1, Bidir: true, Len: 131072, PacingTimer: 1000, ClientVersion: "3.12"},
			[]StreamResult{{ID: 1, Bytes: 131072, EndTime: 0.000109}, {ID: 3, Bytes: 131072, Retransmits: -1, EndTime: 0.000115}},
		},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			p, states, results, err := walkClient(bytes.NewReader(captured(t, name)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.params, p); diff != "" {
				t.Errorf("params (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]State{TestEnd, Done}, states); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.streams, results.Streams); diff != "" {
				t.Errorf("streams (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeParams(t *testing.T) {
	tests := []struct {
		name, text string
		want       Params
		code       int32
	}{
		{name: "stock UDP", text: string(captured(t, "udp-params-3.12.json")),
			want: Params{UDP: true, Omit: 1, Time: 3, Parallel: 1, Len: 1200, Bandwidth: 5_000_000, PacingTimer: 1000, Counters64: true, ClientVersion: "3.12"}},
		{name: "nothing", text: `{}`, want: Params{TCP: true, Parallel: 1, Len: 131072}},
		{name: "C doubles", text: `{"tcp":true,"time":1e1,"bandwidth":1e+09,"num":3.0}`,
			want: Params{TCP: true, Time: 10, Bandwidth: 1e9, Num: 3, Parallel: 1, Len: 131072}},
		{name: "unknown keys", text: `{"udp":true,"gso":0,"title":"x","extra_data":{}}`, want: Params{UDP: true, Parallel: 1, Len: 1460}},
		{name: "sctp", text: `{"sctp":true}`, code: codeProtocol},
		{name: "two protocols", text: `{"tcp":true,"udp":true}`, code: codeProtocol},
		{name: "both ways twice", text: `{"reverse":true,"bidirectional":true}`, code: codeReverseBidir},
		{name: "too long", text: `{"time":86401}`, code: codeDuration},
		{name: "negative time", text: `{"time":-1}`, code: codeDuration},
		{name: "omit", text: `{"omit":601}`, code: codeOmit},
		{name: "no streams", text: `{"parallel":0}`, code: codeStreams},
		{name: "many streams", text: `{"parallel":129}`, code: codeStreams},
		{name: "MSS", text: `{"MSS":100000}`, code: codeMSS},
		{name: "window", text: `{"window":1e12}`, code: codeBuffer},
		{name: "block", text: `{"len":1048577}`, code: codeBlockSize},
		{name: "datagram", text: `{"udp":true,"len":15}`, code: codeUDPBlockSize},
		{name: "TOS", text: `{"TOS":256}`, code: codeTOS},
		{name: "negative rate", text: `{"bandwidth":-5}`, code: codeRecvParams},
		{name: "train over TCP", text: `{"tcp":true,"pathwise":{"train":{"packets":1,"size":100,"trains":1}}}`, code: codeRecvParams},
		{name: "train too long", text: `{"udp":true,"pathwise":{"train":{"packets":20000,"size":100,"trains":2}}}`, code: codeRecvParams},
		{name: "no JSON", text: `{"tcp":`, code: codeRecvParams},
		{name: "wrong type", text: `{"time":"ten"}`, code: codeRecvParams},
		{name: "infinite", text: `{"time":1e400}`, code: codeRecvParams},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeParams([]byte(test.text))
			if test.code != 0 {
				var e *PeerError
				if !errors.As(err, &e) || e.Code != test.code {
					t.Fatalf("error is %v, want code %d", err, test.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParamsSurviveTheWire(t *testing.T) {
	config := Config{Proto: UDP, Duration: 1500 * time.Millisecond, Parallel: 3, Bidir: true, Length: 1000, DSCP: 46, SampleEvery: time.Second}
	want := config.withDefaults().params()
	text, err := EncodeParams(want)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "false") {
		t.Errorf("%s: servers before 3.17 take a false flag for a true one", text)
	}
	got, err := DecodeParams(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got.Time != 2 || got.TOS != 184 {
		t.Errorf("time %d, TOS %d; want 2 (rounded up), 184 (DSCP 46)", got.Time, got.TOS)
	}
}

func TestDecodeResultsRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":         `{}`,
		"no JSON":         `{"cpu`,
		"no retransmits":  `{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":1,"streams":[]}`,
		"ends first":      `{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":1,"sender_has_retransmits":1,"streams":[{"id":1,"start_time":2,"end_time":1}]}`,
		"many streams":    `{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":1,"sender_has_retransmits":1,"streams":[` + strings.Repeat("{},", 256) + `{}]}`,
		"many samples":    `{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":1,"sender_has_retransmits":1,"pathwise":{"samples":{"names":[],"rows":[` + strings.Repeat("[1,1],", 20000) + `[1,1]]}}}`,
		"samples of text": `{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":1,"sender_has_retransmits":1,"pathwise":{"samples":7}}`,
	} {
		var e *ProtocolError
		if _, err := DecodeResults([]byte(text)); !errors.As(err, &e) {
			t.Errorf("%s: error is %v, want a ProtocolError", name, err)
		}
	}
}

// A hello says what the server's clock is worth, as far as that can be. One of a server that knows of no clocks says nothing.
func TestDecodeHello(t *testing.T) {
	of := func(seconds float64) *float64 { return &seconds }
	for text, want := range map[string]*Clock{
		`{}`:                                 nil,
		`{"clock": null}`:                    nil,
		`{"clock": {"synchronized": false}}`: {},
		`{"clock": {"synchronized": true}}`:  {Synchronized: true},
		`{"clock": {"synchronized": true, "error_seconds": 0}}`:                          {Synchronized: true, Error: of(0)},
		`{"clock": {"synchronized": true, "error_seconds": 0.002}}`:                      {Synchronized: true, Error: of(0.002)},
		`{"clock": {"synchronized": true, "error_seconds": 16}}`:                         {Synchronized: true, Error: of(16)},
		`{"clock": {"synchronized": true, "error_seconds": 16.1}}`:                       {Synchronized: true},
		`{"clock": {"synchronized": true, "error_seconds": -1}}`:                         {Synchronized: true},
		`{"clock": {"synchronized": false, "error_seconds": 0.1}}`:                       {},
		`{"clock": {"synchronized": true, "error_seconds": 17, "shows_nanoseconds": 5}}`: {Synchronized: true, Shows: 5},
		`{"clock": {"synchronized": true, "drift": [1, {}]}}`:                            {Synchronized: true},
	} {
		h, err := DecodeHello([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(Hello{Clock: want}, h); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{``, `[]`, `{"clock": 7}`, `{"clock": {"error_seconds": 1e999}}`, `{"clock": {"synchronized": "yes"}}`} {
		var e *ProtocolError
		if _, err := DecodeHello([]byte(text)); !errors.As(err, &e) {
			t.Errorf("%s: error is %v, want a ProtocolError", text, err)
		}
	}
}

// Packets that come back to back have a jitter of less than a microsecond.
func TestDecodeResultsTakesLittleJitter(t *testing.T) {
	const text = `{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":1,"sender_has_retransmits":1,"streams":[{"id":1,"jitter":4e-7,"end_time":1}]}`
	r, err := DecodeResults([]byte(text))
	if err != nil || r.Streams[0].Jitter != 4e-7 {
		t.Errorf("%+v, %v; want a jitter of 0.4 us", r.Streams, err)
	}
}

func TestFrameLimit(t *testing.T) {
	var e *ProtocolError
	if _, err := ReadFrame(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff, '{'}), MaxParamsSize); !errors.As(err, &e) {
		t.Errorf("4 GiB frame: %v, want a ProtocolError", err)
	}
	if _, err := ReadFrame(bytes.NewReader([]byte{0, 0, 0, 9, '{', '}'}), MaxParamsSize); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut frame: %v, want unexpected EOF", err)
	}
}

func TestPeerErrorText(t *testing.T) {
	var wire bytes.Buffer
	if err := WritePeerError(&wire, &PeerError{Code: 124, Errno: 105}); err != nil {
		t.Fatal(err)
	}
	_, _, err := walkServer(&wire)
	if want := "the server refused the test: unable to set socket buffer size: no buffer space available"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %v", err, want)
	}
	short, err := ReadPeerError(bytes.NewReader([]byte{0, 0, 0, 142})) // as 3.12 does when it denies authorization
	if err != nil || short.Code != 142 {
		t.Errorf("short error: %v, %v", short, err)
	}
}

func TestCookie(t *testing.T) {
	c, err := NewCookie(bytes.NewReader(bytes.Repeat([]byte{0, 25, 26, 31, 255, 128}, 6)))
	if want := "az27" + "7a" + strings.Repeat("az277a", 5) + "\x00"; err != nil || string(c[:]) != want {
		t.Errorf("cookie %q, %v; want %q", c[:], err, want)
	}
	if _, err := NewCookie(strings.NewReader("short")); err == nil {
		t.Error("a short source of randomness gave a cookie")
	}
}

func TestSampleTable(t *testing.T) {
	samples := []Sample{
		{Stream: 1, Sender: true, Elapsed: 0.05, Values: map[string]float64{"a": 1, "b": 0}},
		{Stream: 2, Sender: false, Elapsed: 0.05, Values: map[string]float64{"b": 2.5}},
	}
	got := NewSampleTable(samples).Samples(func(stream int) bool { return stream == 1 })
	if diff := cmp.Diff(samples, got); diff != "" {
		t.Errorf("absent must stay absent, zero zero (-want +got):\n%s", diff)
	}
	var many []Sample
	for i := range 10_000 {
		many = append(many, Sample{Stream: 1 + i%2, Elapsed: float64(i), Values: map[string]float64{"a": 1, "b": 2}})
	}
	table := NewSampleTable(many)
	if values := len(table.Rows) * 4; values > maxSampleValues || values < maxSampleValues/4 {
		t.Errorf("%d values after thinning, want at most %d and not far fewer", values, maxSampleValues)
	}
}
