package queue

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/quantity"
)

// Amount is how much waits, in one of three units: `500p` is packets, `250kB` bytes of IP, `100ms` what the line carries
// in that time, its overhead counted. The zero value is an amount that was not given.
type Amount struct {
	Packets int           `json:"packets,omitempty"`
	Bytes   int64         `json:"bytes,omitempty"`
	Time    notation.Span `json:"time,omitempty"`
}

// Bounds of an Amount. Sixteen million packets are 24 GB, more than a machine that runs labs has.
const (
	maxPackets = 1 << 24
	maxBytes   = 1 << 40
)

// The default limit: 100 ms of the rate, the usual provision for a path of 100 ms (RFC 6349 section 3.3.1 asks for a
// bandwidth-delay product), and never less than 64 full packets, so that slow links still take a burst.
const (
	defaultTime    = notation.Span(100 * time.Millisecond)
	defaultPackets = 64
	fullPacket     = 1500
)

// unit tells amounts of one unit from those of another.
func (a Amount) unit() string {
	switch {
	case a.Packets != 0:
		return "packets"
	case a.Bytes != 0:
		return "bytes"
	case a.Time != 0:
		return "time"
	}
	return ""
}

// String is what UnmarshalYAML would read again; "" for the zero value.
func (a Amount) String() string {
	switch a.unit() {
	case "packets":
		return strconv.Itoa(a.Packets) + "p"
	case "bytes":
		return notation.Size(a.Bytes).String()
	case "time":
		return a.Time.String()
	}
	return ""
}

// UnmarshalYAML reads a scalar: the unit decides what it is.
func (a *Amount) UnmarshalYAML(node ast.Node) error {
	text, ok := document.Scalar(node)
	if !ok {
		return document.At(node, document.Errorf("want one value, such as 500p, 250kB or 100ms"))
	}
	v, err := parseAmount(text)
	if err != nil {
		return document.At(node, err)
	}
	*a = v
	return nil
}

// parseAmount tells the units apart by their last letter: of those of sizes and packets none ends in s, and of times
// only seconds and their fractions are taken (a queue of minutes is a slip, and "5m" is 5 MiB to package quantity).
func parseAmount(text string) (Amount, error) {
	text = strings.TrimSpace(text)
	bad := fmt.Errorf("%q: want packets such as 500p, a size such as 250kB, or a time such as 100ms", text)
	var a Amount
	var err error
	if digits, ok := strings.CutSuffix(text, "p"); ok {
		a.Packets, err = strconv.Atoi(strings.TrimSpace(digits))
	} else if strings.HasSuffix(text, "s") {
		var v time.Duration
		v, err = quantity.ParseDuration(text)
		a.Time = notation.Span(v)
	} else {
		a.Bytes, err = quantity.ParseSize(text)
	}
	if err != nil || a == (Amount{}) {
		return Amount{}, bad
	}
	if err := a.validate(); err != nil {
		return Amount{}, err
	}
	return a, nil
}

func (a Amount) validate() error {
	given := 0
	for _, set := range []bool{a.Packets != 0, a.Bytes != 0, a.Time != 0} {
		if set {
			given++
		}
	}
	switch {
	case given > 1:
		return document.Errorf("packets, bytes and time: want one of the three")
	case a.Packets < 0 || a.Packets > maxPackets:
		return document.Errorf("%q: want 1p to %dp", a, maxPackets)
	case a.Bytes < 0 || a.Bytes > maxBytes:
		return document.Errorf("%q: want 1B to %dB", a, int64(maxBytes))
	case a.Time < 0 || int64(a.Time) > int64(notation.MaxDelay):
		return document.Errorf("%q: want at most 1h", a)
	}
	return nil
}

// backlog is how much waits, or may wait, in each unit.
type backlog struct {
	packets int
	bytes   int64 // of IP
	wire    int64 // bytes of the line
}

// limits returns how much may wait for a line: in the units that were not given, any number.
func (a Amount) limits(line Line) backlog {
	most := backlog{math.MaxInt, math.MaxInt64 / 2, math.MaxInt64 / 2} // half: room to add a packet's size
	switch {
	case a.Packets > 0:
		most.packets = a.Packets
	case a.Bytes > 0:
		most.bytes = a.Bytes
	case line.Rate <= 0:
	case a.Time > 0:
		most.wire = int64(min(line.carries(a.Time), math.MaxInt64/2))
	default:
		most.wire = max(int64(line.carries(defaultTime)), defaultPackets*line.frame(fullPacket))
	}
	return most
}
