// Package model holds the formulas that say what a path and a transport can do: how much must be in flight, what a window
// or a loss rate allows, how long TCP takes to start and to recover, what headers cost.
//
// Every formula is a pure function that cites its source; package model measures nothing and decides nothing. Rates are in
// bit/s, sizes in bytes, losses as ratios 0..1, times are time.Duration. Sizes and counts of packets are float64 because they
// come out of divisions; a function that rounds says so. Arguments must be positive unless a function says otherwise; with
// others the result is what IEEE arithmetic makes of them, which is an infinity or NaN, never a panic.
package model

import (
	"math"
	"time"
)

// Seconds turns seconds into a Duration: the longest there is, 292 years, where they do not fit; 0 for NaN.
func Seconds(s float64) time.Duration {
	ns := math.Round(s * float64(time.Second))
	switch {
	case math.IsNaN(ns):
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns <= math.MinInt64:
		return math.MinInt64
	}
	return time.Duration(ns)
}

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
