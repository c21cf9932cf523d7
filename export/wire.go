package export

import (
	"math"
	"slices"

	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pathwise-net/pathwise/measure"
)

// Remote write 1.0 (https://prometheus.io/docs/specs/prw/remote_write_spec/) is one protobuf message a request, in
// snappy's block format. Of the message we need this much, and write it by hand:
//
//	WriteRequest { repeated TimeSeries timeseries = 1 }
//	TimeSeries   { repeated Label labels = 1; repeated Sample samples = 2 }    labels in order of name, none empty
//	Label        { string name = 1; string value = 2 }
//	Sample       { double value = 1; int64 timestamp = 2 }                     milliseconds since 1970
//
// A message of repeated fields is the concatenation of its parts, so a Result is encoded once, as a parcel, and a
// request is parcels one behind the other.
const (
	fieldSeries, fieldLabels, fieldSamples = 1, 1, 2
	fieldName, fieldLabelValue             = 1, 2
	fieldValue, fieldTime                  = 1, 2
)

// parcel is one Result, encoded.
type parcel struct {
	slot    slot
	millis  int64 // when it began
	samples int
	bytes   []byte // as many TimeSeries of a WriteRequest
}

// pack encodes the metrics of a Result and whether it came out whole.
func pack(r *measure.Result) parcel {
	p := parcel{slot: slotOf(r.Started), millis: r.Started.UnixMilli()}
	for _, one := range partsOf(r) {
		values := append(one.values, value{resultOK, okValue(r.Status)})
		common := one.stream.append(nil, r.Way)
		p.samples += len(values)
		p.bytes = slices.Grow(p.bytes, len(values)*(len(common)+96)) // 96: room for name and sample
		for _, v := range values {
			p.bytes = appendSeries(p.bytes, common, v, p.millis)
		}
	}
	return p
}

// append encodes the labels of a TimeSeries that stand behind its name.
func (s stream) append(dst []byte, way measure.Way) []byte {
	for _, l := range [...][2]string{
		{"role", s.role}, {"source", s.source}, {"subject", s.subject}, {"target", s.target}, {"test", s.test}, {"tool", s.tool},
		{"way", label(string(way))},
	} {
		if l[1] != "" {
			dst = appendLabel(dst, l[0], l[1], "")
		}
	}
	return dst
}

func appendSeries(dst, common []byte, v value, millis int64) []byte {
	sample := protowire.SizeTag(fieldValue) + protowire.SizeFixed64() +
		protowire.SizeTag(fieldTime) + protowire.SizeVarint(uint64(millis))
	name := sizeLabel("__name__", len(prefix)+len(v.metric))
	size := protowire.SizeTag(fieldLabels) + protowire.SizeBytes(name) + len(common) +
		protowire.SizeTag(fieldSamples) + protowire.SizeBytes(sample)
	dst = protowire.AppendTag(dst, fieldSeries, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(size))
	dst = appendLabel(dst, "__name__", prefix, string(v.metric))
	dst = append(dst, common...)
	dst = protowire.AppendTag(dst, fieldSamples, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(sample))
	dst = protowire.AppendTag(dst, fieldValue, protowire.Fixed64Type)
	dst = protowire.AppendFixed64(dst, math.Float64bits(v.value))
	dst = protowire.AppendTag(dst, fieldTime, protowire.VarintType)
	return protowire.AppendVarint(dst, uint64(millis))
}

// appendLabel encodes a label of which the value is given in two pieces.
func appendLabel(dst []byte, name, first, rest string) []byte {
	text := len(first) + len(rest)
	dst = protowire.AppendTag(dst, fieldLabels, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(sizeLabel(name, text)))
	dst = protowire.AppendTag(dst, fieldName, protowire.BytesType)
	dst = protowire.AppendString(dst, name)
	dst = protowire.AppendTag(dst, fieldLabelValue, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(text))
	return append(append(dst, first...), rest...)
}

func sizeLabel(name string, text int) int {
	return protowire.SizeTag(fieldName) + protowire.SizeBytes(len(name)) +
		protowire.SizeTag(fieldLabelValue) + protowire.SizeBytes(text)
}

// request is the body of one request.
func request(batch []parcel) []byte {
	size := 0
	for _, p := range batch {
		size += len(p.bytes)
	}
	message := make([]byte, 0, size)
	for _, p := range batch {
		message = append(message, p.bytes...)
	}
	return snappy.Encode(nil, message)
}
