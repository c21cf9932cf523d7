package sock

import "time"

// TCPInfo is one reading of the kernel's struct tcp_info. A field holds a value only if Has says so: older kernels
// return fewer bytes, and some fields have no value before their first sample.
//
// Counts named Segs, Packets, Delivered, Lost and the like are in segments; SndWnd, RcvWnd and the MSS fields in bytes;
// rates in bit/s (the kernel's bytes per second times 8). Linux keeps one limiting state at a time, so Busy contains
// RwndLimited and SndbufLimited (RFC 4898 has the concepts, net/ipv4/tcp.c tcp_get_info_chrono_stats the numbers).
type TCPInfo struct {
	present uint64 // bit n is set when Field n has a value

	State       uint64 // 1 ESTABLISHED … as in net/tcp_states.h
	CAState     uint64 // 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss
	Retransmits uint64 // of the segment now timing out
	Probes      uint64 // unanswered window probes
	Backoff     uint64 // doublings of the retransmission timer
	Options     uint64 // bits, see Opt…

	SendWscale             uint64 // the peer's shift, applied to the windows that it advertises
	ReceiveWscale          uint64 // ours
	DeliveryRateAppLimited bool   // DeliveryRate was held by the application (or the send buffer), not by the path

	RTO, ATO                                time.Duration
	SndMSS, RcvMSS                          uint64
	Unacked, Sacked, Lost, Retrans          uint64
	LastDataSent, LastDataRecv, LastAckRecv time.Duration

	PMTU, RcvSsthresh uint64
	RTT, RTTVar       time.Duration
	SndSsthresh       uint64 // absent while still infinite
	SndCwnd, AdvMSS   uint64
	Reordering        uint64
	RcvRTT            time.Duration
	RcvSpace          uint64
	TotalRetrans      uint64

	PacingRate, MaxPacingRate uint64 // absent when unlimited
	BytesAcked, BytesReceived uint64
	SegsOut, SegsIn           uint64
	NotsentBytes              uint64
	MinRTT                    time.Duration
	DataSegsIn, DataSegsOut   uint64
	DeliveryRate              uint64 // absent before the first sample

	Busy, RwndLimited, SndbufLimited time.Duration

	Delivered, DeliveredCE       uint64
	BytesSent, BytesRetrans      uint64
	DSACKDups, ReordSeen         uint64
	RcvOOOPack                   uint64
	SndWnd, RcvWnd               uint64
	Rehash                       uint64
	TotalRTO, TotalRTORecoveries uint64
	TotalRTOTime                 time.Duration
}

// Bits of TCPInfo.Options (linux/tcp.h, TCPI_OPT_*): what both ends agreed on in the handshake.
const (
	OptTimestamps = 1
	OptSACK       = 2
	OptWscale     = 4
	OptECN        = 8
)

// Has says whether the kernel gave a value for f.
func (t TCPInfo) Has(f Field) bool { return t.present&(1<<f) != 0 }

// Values returns the fields that are present, keyed by name, in SI base units; names end in their unit where they have
// one. It is what measure.TCPSample carries.
func (t TCPInfo) Values() map[string]float64 {
	values := make(map[string]float64, len(layout))
	for f := range layout {
		if t.Has(Field(f)) {
			values[layout[f].name] = number(layout[f].at(&t))
		}
	}
	return values
}

// number returns a field in its SI base unit.
func number(field any) float64 {
	switch p := field.(type) {
	case *time.Duration:
		return p.Seconds()
	case *bool:
		if *p {
			return 1
		}
		return 0
	default:
		return float64(*field.(*uint64))
	}
}
