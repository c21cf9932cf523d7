package measure

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The JSON of a Result has the contract's fields, and reads back as it was.
func TestResultJSON(t *testing.T) {
	r := NewResult("ping", time.Date(2026, 11, 20, 10, 0, 0, 5, time.UTC))
	r.ID = "01J00000000000000000000000"
	r.Source, r.Target = Endpoint{Name: "a", Address: "10.0.0.1"}, Endpoint{Name: "b", Address: "10.0.0.2"}
	r.DurationSeconds = 1
	r.Metrics[RTTMin], r.Metrics[LossRatio] = 0.04, 0
	rtt := 0.04
	r.Samples.Hops = []Hop{{TTL: 1, Addresses: []string{"10.0.0.9"}, RTTSeconds: []*float64{&rtt, nil}}}
	r.Samples.TCPInfo = []TCPSample{{End: Sender, Direction: Forward, Stream: 1, ElapsedSeconds: 0.05, Values: map[string]float64{"rtt_seconds": 0.04}}}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"pathwise.result/2","id":"01J00000000000000000000000","kind":"ping","status":"ok","error":null,` +
		`"source":{"name":"a","address":"10.0.0.1"},"target":{"name":"b","address":"10.0.0.2"},` +
		`"started":"2026-11-20T10:00:00.000000005Z","duration_seconds":1,"parameters":{},` +
		`"metrics":{"loss_ratio":0,"rtt_min_seconds":0.04},"clock":{"synchronized":false,"error_seconds":null},"target_clock":null,` +
		`"samples":{"tcp_info":[{"direction":"forward","elapsed_seconds":0.05,"end":"sender","rtt_seconds":0.04,"stream":1}],` +
		`"hops":[{"ttl":1,"addresses":["10.0.0.9"],"rtt_seconds":[0.04,null]}]},"notes":[]}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	var back Result
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, &back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func TestFail(t *testing.T) {
	r := NewResult("ping", time.Now())
	r.Fail(nil)
	if r.Status != StatusOK || r.Error != nil {
		t.Errorf("no error: %+v", r)
	}
	r.Fail(errors.New("no socket"))
	if r.Status != StatusFailed || *r.Error != "no socket" {
		t.Errorf("nothing measured: %+v", r)
	}
	r.Metrics[SentPackets] = 3
	r.Fail(errors.New("interrupted"))
	if r.Status != StatusPartial || *r.Error != "interrupted" {
		t.Errorf("something measured: %+v", r)
	}
}

func TestFind(t *testing.T) {
	s := Samples{Ends: []TCPEnd{{End: Sender, Direction: Reverse, Stream: 1}, {End: Receiver, Direction: Forward, Stream: 2}}}
	if e := s.Find(Forward, Receiver); e == nil || e.Stream != 2 {
		t.Errorf("found %+v", e)
	}
	if e := s.Find(Forward, Sender); e != nil {
		t.Errorf("found %+v, want nothing", e)
	}
}

// What stands in a file or comes from a peer must not crash the reader, and what it keeps must write out again.
func FuzzTCPSample(f *testing.F) {
	f.Add([]byte(`{"end":"sender","direction":"forward","stream":1,"elapsed_seconds":0.5,"rtt_seconds":0.04,"x":"y"}`))
	f.Add([]byte(`{"stream":"one"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var s TCPSample
		if json.Unmarshal(text, &s) != nil {
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back TCPSample
		if err := json.Unmarshal(again, &back); err != nil || !cmp.Equal(s, back) {
			t.Fatalf("%s became %s: %v", text, again, err)
		}
	})
}
