package model

// Bytes that travel around the payload of a full packet.
//
//	| preamble 8 | header 14 | VLAN 0 or 4 each | IP 20 or 40 | TCP 20 | options 0 or 12 | payload | FCS 4 | gap 12 |
//	|<-------- link ------------------------->| |<----------------- MTU ---------------------->| |<--- link ---->|
const (
	EthernetFraming = 8 + 14 + 4 + 12 // IEEE 802.3: preamble with start delimiter, header, check sequence, gap between packets
	VLANTag         = 4               // IEEE 802.1Q
	IPv4Header      = 20              // RFC 791, without options
	IPv6Header      = 40              // RFC 8200, without extension headers
	TCPHeader       = 20              // RFC 9293, without options
	TCPTimestamps   = 12              // RFC 7323 appendix A: the option and two bytes of padding
)

// Overhead says what surrounds the payload of a full packet, in bytes.
type Overhead struct {
	MTU     float64 // of the IP packet
	Framing float64 // around it on the link: EthernetFraming, with VLANTag for each tag; 0 counts IP packets only
	Headers float64 // in it, before the payload: such as IPv4Header + TCPHeader + TCPTimestamps
}

// Payload returns the bytes of payload in a full packet: for TCP, the MSS as senders count it, less the options.
func (o Overhead) Payload() float64 { return o.MTU - o.Headers }

// Wire returns the bytes of a full packet's time on the link.
func (o Overhead) Wire() float64 { return o.MTU + o.Framing }

// IPShare returns the share of the link's rate that IP packets get, as a ratio.
//
// Source: the layouts above; High Performance Data Transfer (2006) gives 97.5293 of 100 Mbit/s Ethernet.
func (o Overhead) IPShare() float64 { return o.MTU / o.Wire() }

// PayloadShare returns the share of the link's rate that payload gets, as a ratio.
func (o Overhead) PayloadShare() float64 { return o.Payload() / o.Wire() }
