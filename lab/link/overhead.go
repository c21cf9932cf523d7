package link

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/quantity"
)

// Overhead is what the link layer adds to an IP packet on the wire.
//
//	overhead: ethernet      38 bytes, and short packets padded to 46
//	overhead: atm           AAL5 with LLC/SNAP, in cells
//	overhead: none
//	overhead: 18B           so many bytes for each packet
//
// The zero value is none.
type Overhead struct {
	Link  Layer         `json:"link,omitempty"`
	Bytes notation.Size `json:"bytes,omitempty"` // for each packet, where Link is empty
}

// Layer names a link layer.
type Layer string

// The layers. The empty one adds Overhead.Bytes.
const (
	Ethernet Layer = "ethernet"
	None     Layer = "none"
	ATM      Layer = "atm"
)

// Ethernet's cost around an IP packet: preamble 8, header 14, FCS 4, gap 12 (IEEE 802.3 clause 3 and 4); short packets
// are padded to 46 bytes of payload.
const (
	ethernetOverhead = 38
	ethernetMinimum  = 46
)

// ATM's cost: AAL5's trailer of 8 bytes (ITU-T I.363.5) and 8 of LLC/SNAP, as IP over ATM has it (RFC 2684 section 5.1,
// RFC 2225), cut into cells that carry 48 bytes in 53. A packet of 1500 bytes takes 32 cells, 1696 bytes.
const (
	aal5Trailer = 8
	llcSNAP     = 8
	cellPayload = 48
	cellBytes   = 53
)

// maxOverhead is beyond any encapsulation.
const maxOverhead = 1 << 16

// Frame returns what an IP packet of size bytes takes on the wire.
func (o Overhead) Frame(size int64) int64 {
	switch o.Link {
	case Ethernet:
		return max(size, ethernetMinimum) + ethernetOverhead
	case ATM:
		return (size + aal5Trailer + llcSNAP + cellPayload - 1) / cellPayload * cellBytes
	}
	return size + int64(o.Bytes)
}

func (o Overhead) String() string {
	if o.Link != "" {
		return string(o.Link)
	}
	return o.Bytes.String()
}

// Validate returns what is wrong, as a *document.Error.
func (o *Overhead) Validate() error {
	switch o.Link {
	case "":
		if o.Bytes < 0 || o.Bytes > maxOverhead {
			return document.Errorf("%v: want at most %dB", o.Bytes, maxOverhead)
		}
	case Ethernet, None, ATM:
		if o.Bytes != 0 {
			return document.Errorf("%s and %v: want one of the two", o.Link, o.Bytes)
		}
	default:
		return wantOverhead(string(o.Link))
	}
	return nil
}

func wantOverhead(text string) error {
	return document.Errorf("%q: want ethernet, atm, none or a number of bytes such as 18B", text)
}

// UnmarshalYAML reads a layer's name or a size.
func (o *Overhead) UnmarshalYAML(node ast.Node) error {
	text, ok := document.Scalar(node)
	if !ok {
		return document.At(node, document.Errorf("want one value: ethernet, atm, none or a number of bytes such as 18B"))
	}
	v := Overhead{Link: Layer(text)}
	if v.Validate() != nil {
		bytes, err := quantity.ParseSize(text)
		if err != nil {
			return document.At(node, wantOverhead(text))
		}
		v = Overhead{Bytes: notation.Size(bytes)}
	}
	if err := v.Validate(); err != nil {
		return document.At(node, err)
	}
	*o = v
	return nil
}
