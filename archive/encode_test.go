package archive

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
)

// What appendResult writes must read back as what encoding/json writes does, for every field that a Result has.
func TestAppendResult(t *testing.T) {
	full := fullResult()
	odd := measure.NewResult("ping", time.Date(2026, 11, 21, 1, 2, 3, 4, time.FixedZone("", 3600)))
	odd.Tool, odd.Test = "späte\n\"Züge\"\\", "\u2028\x01<&>"
	odd.Metrics = map[measure.Metric]float64{"a\"b": math.MaxFloat64, "c": math.SmallestNonzeroFloat64, "d": -0.1,
		"e": 1e21, "f": 1e-7}
	odd.Parameters = map[string]any{"nil": nil, "list": []any{1, "x"}, "map": map[string]any{"a": 1.5}, "int": 7,
		"int64": int64(1) << 60,
		"bool":  true, "float": 0.25, "text": "a\tb"}
	bare := &measure.Result{Schema: measure.ResultSchema, Started: time.Unix(0, 0).UTC()}
	for name, r := range map[string]*measure.Result{"full": full, "odd": odd, "bare": bare} {
		metrics, err := metricsIn(r)
		if err != nil {
			t.Fatal(err)
		}
		line, err := appendResult(nil, r, metrics)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(line), "\n") {
			t.Errorf("%s: more than one line: %s", name, line)
		}
		standard, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		want, err := decodeResult(standard)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeResult(line)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, line)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: differs from encoding/json (-want +got):\n%s", name, diff)
		}
	}
	for name, v := range map[string]any{"a number": math.NaN(), "a channel": make(chan int)} {
		r := measure.NewResult("ping", time.Unix(0, 0))
		r.Parameters["x"] = v
		if line, err := appendResult(nil, r, nil); err == nil {
			t.Errorf("%s that JSON cannot hold was written: %s", name, line)
		}
	}
}

// fullResult has something in every field.
func fullResult() *measure.Result {
	rtt, resent, window := 0.0401, int64(3), 1
	r := measure.NewResult("throughput", time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC))
	r.Test, r.Tool, r.Status = "bulk of all", "bulk", measure.StatusPartial
	text := "the peer went away"
	r.Error = &text
	r.Source, r.Target = measure.Endpoint{Name: "ucl", Address: "10.1.0.1"}, measure.Endpoint{Name: "ral",
		Address: "10.2.0.1"}
	r.Subject = &measure.Subject{Kind: measure.SubjectClass, Name: "EF \"1\""}
	r.DurationSeconds = 10.0321
	r.Parameters = map[string]any{"cc": "cubic", "duration": 10.0, "streams": 4.0, "reverse": false}
	r.Metrics = map[measure.Metric]float64{measure.Throughput: 9.41e8, measure.Retransmits: 17, measure.CPUSender: 0.12}
	r.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: sketchOf(0.04, 0.05, 0.0401), "b_seconds": sketchOf(-1)}
	r.Clock = measure.NewClock(100*time.Microsecond, true)
	r.Clock.StepSeconds, r.Clock.AheadSeconds = 0.25, &[2]float64{-0.01, 0.02}
	far := measure.Clock{StepSeconds: -0.5, AheadSeconds: &[2]float64{-0.02, 0.0301}}
	r.TargetClock, r.Way, r.Role = &far, measure.Both, measure.DiagnosisRole("01J00000000000000000000000", "transfer")
	r.Notes = []string{"the socket buffer was \"small\""}
	r.Samples = measure.Samples{
		Echoes: []measure.Echo{{Seq: 1, SentSeconds: 0.1, RTTSeconds: &rtt, TTL: 60}, {Seq: 2, SentSeconds: 0.2,
			Error: "no route"}},
		Intervals: []measure.Interval{{Stream: 1, Direction: measure.Forward, End: measure.Receiver, EndSeconds: 1,
			Bytes: 1e9, Retransmits: &resent}},
		TCPInfo: []measure.TCPSample{{End: "sender", Direction: "forward", Stream: 1, ElapsedSeconds: 0.5,
			Values: map[string]float64{"cwnd": 10}}},
		Ends: []measure.TCPEnd{{End: "sender", Direction: "forward", Stream: 1, Host: "ucl",
			Settings: &measure.TCPSettings{WindowScaling: &window}}},
		Trains: []measure.Train{{SentPackets: 20, ReceivedPackets: 19, DispersionSeconds: 0.001, BitsPerSecond: 2e8}},
		Hops:   []measure.Hop{{TTL: 1, Addresses: []string{"10.0.0.1"}, RTTSeconds: []*float64{&rtt, nil}}},
		Output: &measure.Output{Command: []string{"bbcp", "-P", "2"}, Stdout: "line one\nline two\n", Stderr: "\x00",
			ExitCode: 1},
	}
	return r
}

func BenchmarkAppendResult(b *testing.B) {
	r := fullResult()
	r.Samples = measure.Samples{}
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		metrics, err := metricsIn(r)
		if err != nil {
			b.Fatal(err)
		}
		if line, err = appendResult(line[:0], r, metrics); err != nil {
			b.Fatal(err)
		}
	}
}
