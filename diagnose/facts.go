package diagnose

import (
	"fmt"

	"github.com/pathwise-net/pathwise/quantity"
)

// Facts about a way.
const (
	Pings          Name = "pings" // small ones
	Answers        Name = "answers"
	EmptyRoundTrip Name = "empty_round_trip"
	IdleRoundTrip  Name = "idle_round_trip" // the usual one, before anything is moved

	Capacity        Name = "capacity"         // of IP
	PayloadCapacity Name = "payload_capacity" // of TCP payload

	Goodput         Name = "goodput"
	Steady          Name = "steady_goodput"
	Duration        Name = "transfer_duration"
	Stuck           Name = "stuck" // the connection opened, and nothing that was sent on it arrived
	LoadedRoundTrip Name = "loaded_round_trip"
	RoundTrip       Name = "round_trip" // under load, or of the empty path where that is not known
	MSS             Name = "mss"
	Segments        Name = "segments"
	Retransmits     Name = "retransmits"
	ResentShare     Name = "resent_share"
	LateSegments    Name = "late_segments" // of the later part of the transfer
	LateRetransmits Name = "late_retransmits"
	ReorderedShare  Name = "reordered_share"
	TimerShare      Name = "timer_share"
	Spurious        Name = "spurious" // retransmissions of what had arrived
	SpuriousShare   Name = "spurious_share"

	Timestamps         Name = "timestamps"
	SACK               Name = "selective_acknowledgements"
	WindowScaling      Name = "window_scaling"
	ReceiveWindow      Name = "receive_window"
	ReceiveWindowShare Name = "receive_window_share"
	ReceiveBuffer      Name = "receive_buffer"
	ReceiveBufferFixed Name = "receive_buffer_fixed" // by the program
	ReceiveBufferMax   Name = "receive_buffer_max"
	SendBufferShare    Name = "send_buffer_share"
	SendBuffer         Name = "send_buffer"
	SendBufferFixed    Name = "send_buffer_fixed"
	SendBufferMax      Name = "send_buffer_max"
	InFlight           Name = "in_flight"

	RoomShare       Name = "send_room_share"
	AppLimitedShare Name = "app_limited_share"
	Sourced         Name = "sourced"
	AskedRate       Name = "asked_rate"

	AcksShare Name = "acks_share"

	PacedLoss Name = "paced_loss"
	PacedSent Name = "paced_sent"
	PacedLost Name = "paced_lost"
	PacedRate Name = "paced_rate"

	HalfLoss Name = "half_loss"
	HalfRate Name = "half_rate"

	PassingSize Name = "passing_size" // the largest that was answered; before any was, what every path carries
	SilentSize  Name = "silent_size"

	Allowed Name = "allowed" // by the limit that a finding names
)

// definition is all that is known of one fact, whatever its value.
type definition struct {
	Name   Name
	Metric string // what evidence calls it
	Unit   string
	Means  string // in evidence; {names} stand for facts

	// Step measures it, where that takes a step of its own that the plan does not begin with. It is nil where there is none, and
	// false where another one would tell no more.
	Step func(*Subject) (Step, bool)
}

// definitions are those of all facts about ways. Those about hosts are the metrics that hosts measure of themselves.
var definitions = []definition{
	{Pings, "sent_packets", "packets", "small pings", nil},
	{Answers, "received_packets", "packets", "answers to {pings} small pings", nil},
	{EmptyRoundTrip, "rtt_min_seconds", "s", "round trip on the empty path", nil},
	{IdleRoundTrip, "rtt_median_seconds", "s", "usual round trip before the tests moved anything; {empty_round_trip} at the least", nil},
	{Capacity, "capacity_bits_per_second", "bit/s", "what the narrowest link can carry, headers included", smallTrains},
	{PayloadCapacity, "payload_bits_per_second", "bit/s", "what of the capacity TCP payload can have", nil},
	{Goodput, "throughput_bits_per_second", "bit/s", "goodput over the whole test", nil},
	{Steady, "throughput_bits_per_second", "bit/s", "goodput once the transfer runs", nil},
	{Duration, "transfer_seconds", "s", "length of the transfer", nil},
	{Stuck, "stuck_count", "", "the connection opened, and nothing that was sent on it arrived", nil},
	{LoadedRoundTrip, "rtt_seconds", "s", "round trip under load; {empty_round_trip} on the empty path", nil},
	{RoundTrip, "rtt_seconds", "s", "round trip while the test ran", nil},
	{MSS, "snd_mss_bytes", "bytes", "payload of the packets that the connection sends", nil},
	{Segments, "data_segs_out", "packets", "sent by TCP", nil},
	{Retransmits, "retransmits_packets", "packets", "sent again, of {segments}", nil},
	{ResentShare, "retransmits_ratio", "ratio", "share of its packets that TCP sent again", nil},
	{LateSegments, "data_segs_out", "packets", "sent by TCP once the transfer ran", nil},
	{LateRetransmits, "retransmits_packets", "packets", "sent again once the transfer ran, of {late_segments}", nil},
	{TimerShare, "timer_ratio", "ratio", "share of the samples in which the sender waited for its retransmission timer", nil},
	{ReorderedShare, "reordering_ratio", "ratio", "share of its packets that TCP saw come behind later ones", nil},
	{Spurious, "dsack_packets", "packets", "sent again although they had arrived, of {retransmits} sent again", nil},
	{SpuriousShare, "dsack_ratio", "ratio", "share of what was sent again that had arrived", nil},
	{Timestamps, "timestamps_count", "", "both ends use timestamps", nil},
	{SACK, "sack_count", "", "both ends use selective acknowledgements", nil},
	{WindowScaling, "window_scaling_count", "", "both ends scale windows", nil},
	{ReceiveWindow, "snd_wnd_bytes", "bytes", "the largest window that the receiver offered", nil},
	{ReceiveWindowShare, "rwnd_limited_ratio", "ratio", "share of the time that the receiver's window held the sender", nil},
	{ReceiveBuffer, "receive_buffer_bytes", "bytes", "SO_RCVBUF when the test ended", nil},
	{ReceiveBufferFixed, "receive_buffer_fixed_count", "", "the receiving program set the size of its buffer", nil},
	{ReceiveBufferMax, "tcp_rmem_max_bytes", "bytes", "the most that the receiver's kernel tunes the buffer to", nil},
	{SendBufferShare, "sndbuf_limited_ratio", "ratio", "share of the time that the send buffer held the sender", nil},
	{SendBuffer, "send_buffer_bytes", "bytes", "SO_SNDBUF when the test ended", nil},
	{SendBufferFixed, "send_buffer_fixed_count", "", "the sending program set the size of its buffer", nil},
	{SendBufferMax, "tcp_wmem_max_bytes", "bytes", "the most that the sender's kernel tunes the buffer to", nil},
	{InFlight, "in_flight_bytes", "bytes", "under way each round trip of {empty_round_trip}", nil},
	{RoomShare, "send_buffer_room_ratio", "ratio", "share of the samples in which the program could have given TCP more", nil},
	{AppLimitedShare, "delivery_rate_app_limited", "ratio", "share of the samples that the kernel marked as held back by the program", nil},
	{Sourced, "sourced_count", "", "the data came from a source or at a rate that the caller chose", nil},
	{AskedRate, "asked_bits_per_second", "bit/s", "rate that the sending program was held to", nil},
	{AcksShare, "acks_ratio", "ratio", "share of what the way back carries that the acknowledgements take", nil},
	{PacedLoss, "loss_ratio", "ratio", "lost by a probe of only {paced_rate}, {paced_lost} of {paced_sent}: not for congestion", pacedProbe},
	{PacedSent, "sent_packets", "packets", "sent by a paced probe", nil},
	{PacedLost, "lost_packets", "packets", "lost by a paced probe", nil},
	{PacedRate, "sent_bits_per_second", "bit/s", "rate of a paced probe", nil},
	{HalfLoss, "loss_ratio", "ratio", "lost by a probe of {half_rate}, about half of what the narrowest link carries", halfProbe},
	{HalfRate, "sent_bits_per_second", "bit/s", "rate of a probe at half of the capacity", nil},
	{PassingSize, "path_mtu_bytes", "bytes", "packets of {passing_size} are answered", sizeOfPackets},
	{SilentSize, "silent_packet_bytes", "bytes", "packets of {silent_size} vanish: no answer, and no router says why", nil},
	{Allowed, "allowed_bits_per_second", "bit/s", "what this limit allows, by its own formula", nil},
}

// define returns the definition of a fact; false: it is none about a way.
func define(n Name) (definition, bool) {
	for _, d := range definitions {
		if d.Name == n {
			return d, true
		}
	}
	return definition{}, false
}

// format prints the value of a fact for people.
func format(value float64, unit string) string {
	switch unit {
	case "ratio":
		return quantity.FormatRatio(value)
	case "bytes":
		return quantity.FormatSize(int64(value))
	case "bit/s":
		return quantity.FormatRate(value)
	case "s":
		return quantity.FormatSeconds(value)
	}
	return fmt.Sprintf("%.0f", value)
}
