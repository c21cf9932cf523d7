package export

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pathwise-net/pathwise/measure"
)

// series is one TimeSeries as a receiver reads it. In this package each has one sample.
type series struct {
	Labels [][2]string
	Value  float64
	Millis int64
}

// decode reads a request by the specification, and refuses what is not in it.
func decode(body []byte) (all []series, err error) {
	message, err := snappy.Decode(nil, body)
	if err != nil {
		return nil, err
	}
	err = fields(message, func(number protowire.Number, field []byte, _ uint64) error {
		if number != 1 {
			return fmt.Errorf("field %d in WriteRequest", number)
		}
		s, samples := series{}, 0
		err := fields(field, func(number protowire.Number, field []byte, _ uint64) error {
			switch number {
			case 1:
				var l [2]string
				s.Labels = append(s.Labels, l)
				return fields(field, func(number protowire.Number, field []byte, _ uint64) error {
					s.Labels[len(s.Labels)-1][number-1] = string(field)
					return nil
				})
			case 2:
				samples++
				return fields(field, func(number protowire.Number, _ []byte, scalar uint64) error {
					if number == 1 {
						s.Value = math.Float64frombits(scalar)
					} else {
						s.Millis = int64(scalar)
					}
					return nil
				})
			}
			return fmt.Errorf("field %d in TimeSeries", number)
		})
		for i, l := range s.Labels {
			if l[0] == "" || l[1] == "" || i > 0 && l[0] <= s.Labels[i-1][0] {
				err = fmt.Errorf("labels %q", s.Labels)
			}
		}
		if samples != 1 {
			err = fmt.Errorf("%d samples", samples)
		}
		all = append(all, s)
		return err
	})
	return all, err
}

func fields(message []byte, each func(number protowire.Number, field []byte, scalar uint64) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var field []byte
		var scalar uint64
		switch kind {
		case protowire.BytesType:
			field, n = protowire.ConsumeBytes(message)
		case protowire.Fixed64Type:
			scalar, n = protowire.ConsumeFixed64(message)
		case protowire.VarintType:
			scalar, n = protowire.ConsumeVarint(message)
		default:
			return fmt.Errorf("kind %d", kind)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := each(number, field, scalar); err != nil {
			return err
		}
	}
	return nil
}

func TestRequest(t *testing.T) {
	plain := ping("1", noon.Add(1500*time.Microsecond), map[measure.Metric]float64{
		measure.RTTMin: 0.30000000000000004, measure.LossRatio: 0, "result_timestamp_seconds": 1, "no metric": 2})
	early := ping("2", time.Unix(-1, 0), map[measure.Metric]float64{measure.SentBytes: math.MaxFloat64})
	early.Source, early.Target = measure.Endpoint{Address: "10.0.0.1"}, measure.Endpoint{Name: "b\n"}
	early.Test, early.Tool, early.Status = "", "", measure.StatusPartial
	got, err := decode(request([]parcel{pack(plain), pack(early)}))
	if err != nil {
		t.Fatal(err)
	}
	labels := func(name string) [][2]string {
		return [][2]string{{"__name__", prefix + name}, {"role", "planned"}, {"source", "a"}, {"target", "b"}, {"test", "lat"}, {"tool", "rtt"}}
	}
	bare := func(name string) [][2]string {
		return [][2]string{{"__name__", prefix + name}, {"role", "demand"}, {"source", "10.0.0.1"}, {"target", "b?"}, {"tool", "ping"}}
	}
	millis := noon.UnixMilli() + 1
	want := []series{
		{labels("loss_ratio"), 0, millis}, {labels("rtt_min_seconds"), 0.30000000000000004, millis}, {labels("result_ok"), 1, millis},
		{bare("sent_bytes"), math.MaxFloat64, -1000}, {bare("result_ok"), 0, -1000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever is in a Result, a request is one that a receiver can read.
func FuzzRequest(f *testing.F) {
	f.Add("a", "b", "lat", "rtt", "rtt_min_seconds", "forward", "planned", 0.5, int64(1))
	f.Add("\xff", "\n", "", "", "_seconds", "\xff", "diagnosis/\n/\xff", math.NaN(), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, source, target, test, tool, metric, way, role string, v float64, nanos int64) {
		r := ping("", time.Unix(0, nanos), map[measure.Metric]float64{measure.Metric(metric): v})
		r.Source.Name, r.Target.Name, r.Test, r.Tool, r.Way, r.Role = source, target, test, tool, measure.Way(way), measure.Role(role)
		p := pack(r)
		got, err := decode(request([]parcel{p, p}))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 2*p.samples || len(got) > 4 {
			t.Errorf("%d series", len(got))
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	r := typical()
	b.ReportAllocs()
	for b.Loop() {
		batch := make([]parcel, 1000)
		for i := range batch {
			r.Started = noon.Add(time.Duration(i) * time.Second)
			batch[i] = pack(r)
		}
		b.SetBytes(int64(len(request(batch))))
	}
}
