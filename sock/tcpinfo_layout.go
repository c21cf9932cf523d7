package sock

import (
	"encoding/binary"
	"math"
	"time"
)

// Field names one field of TCPInfo, for Has.
type Field uint8

// The fields, in the order of the kernel's struct.
const (
	FieldState Field = iota
	FieldCAState
	FieldRetransmits
	FieldProbes
	FieldBackoff
	FieldOptions
	FieldSendWscale
	FieldReceiveWscale
	FieldDeliveryRateAppLimited
	FieldRTO
	FieldATO
	FieldSndMSS
	FieldRcvMSS
	FieldUnacked
	FieldSacked
	FieldLost
	FieldRetrans
	FieldLastDataSent
	FieldLastDataRecv
	FieldLastAckRecv
	FieldPMTU
	FieldRcvSsthresh
	FieldRTT
	FieldRTTVar
	FieldSndSsthresh
	FieldSndCwnd
	FieldAdvMSS
	FieldReordering
	FieldRcvRTT
	FieldRcvSpace
	FieldTotalRetrans
	FieldPacingRate
	FieldMaxPacingRate
	FieldBytesAcked
	FieldBytesReceived
	FieldSegsOut
	FieldSegsIn
	FieldNotsentBytes
	FieldMinRTT
	FieldDataSegsIn
	FieldDataSegsOut
	FieldDeliveryRate
	FieldBusy
	FieldRwndLimited
	FieldSndbufLimited
	FieldDelivered
	FieldDeliveredCE
	FieldBytesSent
	FieldBytesRetrans
	FieldDSACKDups
	FieldReordSeen
	FieldRcvOOOPack
	FieldSndWnd
	FieldRcvWnd
	FieldRehash
	FieldTotalRTO
	FieldTotalRTORecoveries
	FieldTotalRTOTime
)

// Units that the kernel counts in, as factors to nanoseconds, or to bits.
const (
	one          = 1
	bits         = 8 // of a byte
	microseconds = uint64(time.Microsecond)
	milliseconds = uint64(time.Millisecond)
)

// Values by which the kernel says that it has none.
const (
	never     = math.MaxUint64 // no counter reaches it; as a pacing rate it means unlimited
	unsampled = 0              // no sample yet: a sampled time is at least 1 us, a sampled rate above 0
	infinite  = 0x7fffffff     // TCP_INFINITE_SSTHRESH
	noMinimum = math.MaxUint32 // the start value of the windowed minimum
)

// layout places each Field in struct tcp_info (include/uapi/linux/tcp.h, Linux 6.18). All numbers are little-endian on
// the machines that Pathwise runs on. Bytes 6 and 7 are bit fields:
//
//	byte 6: | rcv_wscale : 4 | snd_wscale : 4 |     byte 7: | … : 5 | fastopen_client_fail : 2 | app_limited : 1 |
//
// Left out are the fields that the kernel no longer fills: fackets (40) and last_ack_sent (48).
var layout = [...]struct {
	name         string
	offset, size int
	shift, mask  uint64 // of a bit field; mask 0 takes all
	unit         uint64
	none         uint64 // this value means absent
	at           func(*TCPInfo) any
}{
	FieldState:                  {"state", 0, 1, 0, 0, one, never, func(t *TCPInfo) any { return &t.State }},
	FieldCAState:                {"ca_state", 1, 1, 0, 0, one, never, func(t *TCPInfo) any { return &t.CAState }},
	FieldRetransmits:            {"retransmits_packets", 2, 1, 0, 0, one, never, func(t *TCPInfo) any { return &t.Retransmits }},
	FieldProbes:                 {"probes_packets", 3, 1, 0, 0, one, never, func(t *TCPInfo) any { return &t.Probes }},
	FieldBackoff:                {"backoff", 4, 1, 0, 0, one, never, func(t *TCPInfo) any { return &t.Backoff }},
	FieldOptions:                {"options", 5, 1, 0, 0, one, never, func(t *TCPInfo) any { return &t.Options }},
	FieldSendWscale:             {"send_wscale", 6, 1, 0, 0xf, one, never, func(t *TCPInfo) any { return &t.SendWscale }},
	FieldReceiveWscale:          {"receive_wscale", 6, 1, 4, 0xf, one, never, func(t *TCPInfo) any { return &t.ReceiveWscale }},
	FieldDeliveryRateAppLimited: {"delivery_rate_app_limited", 7, 1, 0, 0x1, one, never, func(t *TCPInfo) any { return &t.DeliveryRateAppLimited }},
	FieldRTO:                    {"rto_seconds", 8, 4, 0, 0, microseconds, never, func(t *TCPInfo) any { return &t.RTO }},
	FieldATO:                    {"ato_seconds", 12, 4, 0, 0, microseconds, never, func(t *TCPInfo) any { return &t.ATO }},
	FieldSndMSS:                 {"snd_mss_bytes", 16, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.SndMSS }},
	FieldRcvMSS:                 {"rcv_mss_bytes", 20, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.RcvMSS }},
	FieldUnacked:                {"unacked_packets", 24, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.Unacked }},
	FieldSacked:                 {"sacked_packets", 28, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.Sacked }},
	FieldLost:                   {"lost_packets", 32, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.Lost }},
	FieldRetrans:                {"retrans_packets", 36, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.Retrans }},
	FieldLastDataSent:           {"last_data_sent_seconds", 44, 4, 0, 0, milliseconds, never, func(t *TCPInfo) any { return &t.LastDataSent }},
	FieldLastDataRecv:           {"last_data_recv_seconds", 52, 4, 0, 0, milliseconds, never, func(t *TCPInfo) any { return &t.LastDataRecv }},
	FieldLastAckRecv:            {"last_ack_recv_seconds", 56, 4, 0, 0, milliseconds, never, func(t *TCPInfo) any { return &t.LastAckRecv }},
	FieldPMTU:                   {"pmtu_bytes", 60, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.PMTU }},
	FieldRcvSsthresh:            {"rcv_ssthresh_bytes", 64, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.RcvSsthresh }},
	FieldRTT:                    {"rtt_seconds", 68, 4, 0, 0, microseconds, unsampled, func(t *TCPInfo) any { return &t.RTT }},
	FieldRTTVar:                 {"rttvar_seconds", 72, 4, 0, 0, microseconds, never, func(t *TCPInfo) any { return &t.RTTVar }},
	FieldSndSsthresh:            {"snd_ssthresh_packets", 76, 4, 0, 0, one, infinite, func(t *TCPInfo) any { return &t.SndSsthresh }},
	FieldSndCwnd:                {"snd_cwnd_packets", 80, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.SndCwnd }},
	FieldAdvMSS:                 {"advmss_bytes", 84, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.AdvMSS }},
	FieldReordering:             {"reordering_packets", 88, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.Reordering }},
	FieldRcvRTT:                 {"rcv_rtt_seconds", 92, 4, 0, 0, microseconds, unsampled, func(t *TCPInfo) any { return &t.RcvRTT }},
	FieldRcvSpace:               {"rcv_space_bytes", 96, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.RcvSpace }},
	FieldTotalRetrans:           {"total_retrans_packets", 100, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.TotalRetrans }},
	FieldPacingRate:             {"pacing_rate_bits_per_second", 104, 8, 0, 0, bits, never, func(t *TCPInfo) any { return &t.PacingRate }},
	FieldMaxPacingRate:          {"max_pacing_rate_bits_per_second", 112, 8, 0, 0, bits, never, func(t *TCPInfo) any { return &t.MaxPacingRate }},
	FieldBytesAcked:             {"bytes_acked", 120, 8, 0, 0, one, never, func(t *TCPInfo) any { return &t.BytesAcked }},
	FieldBytesReceived:          {"bytes_received", 128, 8, 0, 0, one, never, func(t *TCPInfo) any { return &t.BytesReceived }},
	FieldSegsOut:                {"segs_out", 136, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.SegsOut }},
	FieldSegsIn:                 {"segs_in", 140, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.SegsIn }},
	FieldNotsentBytes:           {"notsent_bytes", 144, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.NotsentBytes }},
	FieldMinRTT:                 {"min_rtt_seconds", 148, 4, 0, 0, microseconds, noMinimum, func(t *TCPInfo) any { return &t.MinRTT }},
	FieldDataSegsIn:             {"data_segs_in", 152, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.DataSegsIn }},
	FieldDataSegsOut:            {"data_segs_out", 156, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.DataSegsOut }},
	FieldDeliveryRate:           {"delivery_rate_bits_per_second", 160, 8, 0, 0, bits, unsampled, func(t *TCPInfo) any { return &t.DeliveryRate }},
	FieldBusy:                   {"busy_seconds", 168, 8, 0, 0, microseconds, never, func(t *TCPInfo) any { return &t.Busy }},
	FieldRwndLimited:            {"rwnd_limited_seconds", 176, 8, 0, 0, microseconds, never, func(t *TCPInfo) any { return &t.RwndLimited }},
	FieldSndbufLimited:          {"sndbuf_limited_seconds", 184, 8, 0, 0, microseconds, never, func(t *TCPInfo) any { return &t.SndbufLimited }},
	FieldDelivered:              {"delivered", 192, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.Delivered }},
	FieldDeliveredCE:            {"delivered_ce", 196, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.DeliveredCE }},
	FieldBytesSent:              {"bytes_sent", 200, 8, 0, 0, one, never, func(t *TCPInfo) any { return &t.BytesSent }},
	FieldBytesRetrans:           {"bytes_retrans", 208, 8, 0, 0, one, never, func(t *TCPInfo) any { return &t.BytesRetrans }},
	FieldDSACKDups:              {"dsack_dups", 216, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.DSACKDups }},
	FieldReordSeen:              {"reord_seen", 220, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.ReordSeen }},
	FieldRcvOOOPack:             {"rcv_ooopack", 224, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.RcvOOOPack }},
	FieldSndWnd:                 {"snd_wnd_bytes", 228, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.SndWnd }},
	FieldRcvWnd:                 {"rcv_wnd_bytes", 232, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.RcvWnd }},
	FieldRehash:                 {"rehash", 236, 4, 0, 0, one, never, func(t *TCPInfo) any { return &t.Rehash }},
	FieldTotalRTO:               {"total_rto", 240, 2, 0, 0, one, never, func(t *TCPInfo) any { return &t.TotalRTO }},
	FieldTotalRTORecoveries:     {"total_rto_recoveries", 242, 2, 0, 0, one, never, func(t *TCPInfo) any { return &t.TotalRTORecoveries }},
	FieldTotalRTOTime:           {"total_rto_time_seconds", 244, 4, 0, 0, milliseconds, never, func(t *TCPInfo) any { return &t.TotalRTOTime }},
}

// ParseTCPInfo decodes what getsockopt(TCP_INFO) returned, as much of it as there is: a field that does not lie wholly
// within raw is absent. Any bytes will do.
func ParseTCPInfo(raw []byte) TCPInfo {
	var t TCPInfo
	for f := range layout {
		row := &layout[f]
		if row.offset+row.size > len(raw) {
			continue
		}
		v := integer(raw[row.offset : row.offset+row.size])
		if row.mask != 0 {
			v = v >> row.shift & row.mask
		}
		if v == row.none {
			continue
		}
		switch p := row.at(&t).(type) {
		case *uint64:
			*p = v * row.unit
		case *time.Duration:
			*p = time.Duration(min(v, math.MaxInt64/row.unit) * row.unit)
		case *bool:
			*p = v != 0
		}
		t.present |= 1 << f
	}
	if !t.Has(FieldRTT) { // the variation then is a start value, not a measurement
		t.present &^= 1 << FieldRTTVar
		t.RTTVar = 0
	}
	return t
}

// integer decodes a little-endian number of 1, 2, 4 or 8 bytes.
func integer(b []byte) uint64 {
	var wide [8]byte
	copy(wide[:], b)
	return binary.LittleEndian.Uint64(wide[:])
}
