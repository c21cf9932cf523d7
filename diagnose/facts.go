package diagnose

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// Facts about a way, many of them of a program's connection, too.
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

	BehindGaps Name = "behind_gaps"

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

	AcksShare  Name = "acks_share"
	LargeEcho  Name = "large_echo"
	BackResent Name = "resent_back_share"
	BackFull   Name = "full_back"

	PacedLoss Name = "paced_loss"
	PacedSent Name = "paced_sent"
	PacedLost Name = "paced_lost"
	PacedRate Name = "paced_rate"

	HalfLoss Name = "half_loss"
	HalfSent Name = "half_sent"
	// HalfPeriod is how many packets in a row the probe at half of the capacity lost, on average.
	HalfPeriod Name = "half_loss_period"
	HalfRate   Name = "half_rate"

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

	// Read takes it out of a Result of the sort From; told is false where that says nothing of it. A newer transfer that says
	// nothing of it takes it away. It is nil of facts that gather.go and derive.go set.
	From sort
	Read func(*Subject, *measure.Result) (value float64, told bool)
}

// definitions are of the facts about ways that several rules use; a fact that one rule alone uses is defined beside that rule. Facts
// about hosts have none: they are the metrics that hosts measure of themselves.
var definitions = []definition{
	{Name: Pings, Metric: "sent_packets", Unit: "packets", Means: "small pings"},
	{Name: Answers, Metric: "received_packets", Unit: "packets", Means: "answers to {pings} small pings"},
	{Name: EmptyRoundTrip, Metric: "rtt_min_seconds", Unit: "s", Means: "round trip on the empty path"},
	{Name: IdleRoundTrip, Metric: "rtt_median_seconds", Unit: "s",
		Means: "usual round trip before the tests moved anything; {empty_round_trip} at the least"},
	{Name: Capacity, Metric: "capacity_bits_per_second", Unit: "bit/s",
		Means: "what the narrowest link can carry, headers included", Step: smallTrains},
	{Name: PayloadCapacity, Metric: "payload_bits_per_second", Unit: "bit/s", Means: "what of the capacity TCP payload can have"},
	{Name: Goodput, Metric: "throughput_bits_per_second", Unit: "bit/s", Means: "goodput of the whole transfer"},
	{Name: Steady, Metric: "throughput_bits_per_second", Unit: "bit/s", Means: "goodput of the last 60 % of the transfer"},
	{Name: Duration, Metric: "transfer_seconds", Unit: "s", Means: "length of the transfer"},
	{Name: Stuck, Metric: "stuck_count", Means: "the connection opened, and nothing that was sent on it arrived"},
	{Name: LoadedRoundTrip, Metric: "rtt_seconds", Unit: "s", Means: "round trip under load; {empty_round_trip} on the empty path"},
	{Name: RoundTrip, Metric: "rtt_seconds", Unit: "s", Means: "round trip while the test ran"},
	{Name: MSS, Metric: "snd_mss_bytes", Unit: "bytes", Means: "payload of the packets that the connection sends"},
	{Name: Segments, Metric: "data_segs_out", Unit: "packets", Means: "sent by TCP"},
	{Name: Retransmits, Metric: "retransmits_packets", Unit: "packets", Means: "sent again, of {segments}"},
	{Name: ResentShare, Metric: "retransmits_ratio", Unit: "ratio", Means: "share of its packets that TCP sent again"},
	{Name: FullLosses, Metric: "retransmits_packets", Unit: "packets",
		Means: "of them sent again for losses that began while the path was full: what slow start makes any queue lose"},
	{Name: LateSegments, Metric: "data_segs_out", Unit: "packets", Means: "sent by TCP once the transfer ran"},
	{Name: LateRetransmits, Metric: "retransmits_packets", Unit: "packets", Means: "sent again once the transfer ran, of {late_segments}"},
	{Name: TimerShare, Metric: "timer_ratio", Unit: "ratio",
		Means: "share of the samples in which the sender waited for its retransmission timer"},
	{Name: ReorderedShare, Metric: "reordering_ratio", Unit: "ratio", Means: "share of its packets that TCP saw come behind later ones"},
	{Name: Spurious, Metric: "dsack_packets", Unit: "packets", Means: "sent again although they had arrived, of {retransmits} sent again"},
	{Name: SpuriousShare, Metric: "dsack_ratio", Unit: "ratio", Means: "share of what was sent again that had arrived"},
	{Name: BehindGaps, Metric: "behind_gaps_ratio", Unit: "ratio",
		Means: "share of the packets that came behind a gap: one before them was lost, or is late"},
	{Name: SACK, Metric: "sack_count", Means: "both ends use selective acknowledgements"},
	{Name: WindowScaling, Metric: "window_scaling_count", Means: "both ends scale windows"},
	{Name: ReceiveWindow, Metric: "snd_wnd_bytes", Unit: "bytes", Means: "the largest window that the receiver offered"},
	{Name: ReceiveWindowShare, Metric: "rwnd_limited_ratio", Unit: "ratio",
		Means: "share of the time that the receiver's window held the sender"},
	{Name: ReceiveBuffer, Metric: "receive_buffer_bytes", Unit: "bytes", Means: "SO_RCVBUF when the test ended"},
	{Name: ReceiveBufferFixed, Metric: "receive_buffer_fixed_count", Means: "the receiving program set the size of its buffer"},
	{Name: ReceiveBufferMax, Metric: "tcp_rmem_max_bytes", Unit: "bytes", Means: "the most that the receiver's kernel tunes the buffer to"},
	{Name: SendBufferShare, Metric: "sndbuf_limited_ratio", Unit: "ratio", Means: "share of the time that the send buffer held the sender"},
	{Name: SendBuffer, Metric: "send_buffer_bytes", Unit: "bytes", Means: "SO_SNDBUF when the test ended"},
	{Name: SendBufferFixed, Metric: "send_buffer_fixed_count", Means: "the sending program set the size of its buffer"},
	{Name: SendBufferMax, Metric: "tcp_wmem_max_bytes", Unit: "bytes", Means: "the most that the sender's kernel tunes the buffer to"},
	{Name: InFlight, Metric: "in_flight_bytes", Unit: "bytes", Means: "under way each round trip of {empty_round_trip}"},
	{Name: RoomShare, Metric: "send_buffer_room_ratio", Unit: "ratio",
		Means: "share of the samples in which the program could have given TCP more"},
	{Name: AppLimitedShare, Metric: "delivery_rate_app_limited", Unit: "ratio",
		Means: "share of the samples that the kernel marked as held back by the program"},
	{Name: Sourced, Metric: "sourced_count", Means: "the data came from a source or at a rate that the caller chose"},
	{Name: AskedRate, Metric: "asked_bits_per_second", Unit: "bit/s", Means: "rate that the sending program was held to"},
	{Name: AcksShare, Metric: "acks_ratio", Unit: "ratio", Means: "share of what the way back carries that the acknowledgements take",
		Step: largeEchoes},
	{Name: LargeEcho, Metric: string(measure.RTTMin), Unit: "s", Means: "the least round trip of large echoes, for which a narrow way back takes its time"},
	{Name: BackResent, Metric: "retransmits_ratio", Unit: "ratio", Means: "of the packets the other way were sent again, where it is slow too"},
	{Name: BackFull, Metric: "full_back_count", Means: "a transfer the other way carries what it can"},
	{Name: PacedLoss, Metric: "loss_ratio", Unit: "ratio",
		Means: "lost by a probe of only {paced_rate}, {paced_lost} of {paced_sent}: not for congestion", Step: pacedProbe},
	{Name: PacedSent, Metric: "sent_packets", Unit: "packets", Means: "sent by a paced probe"},
	{Name: PacedLost, Metric: "lost_packets", Unit: "packets", Means: "lost by a paced probe"},
	{Name: PacedRate, Metric: "sent_bits_per_second", Unit: "bit/s", Means: "rate of a paced probe"},
	{Name: HalfLoss, Metric: "loss_ratio", Unit: "ratio",
		Means: "lost by a probe of {half_rate}, about half of what the narrowest link carries", Step: halfProbe},
	{Name: HalfSent, Metric: "sent_packets", Unit: "packets", Means: "sent by a probe at half of the capacity"},
	{Name: HalfPeriod, Metric: string(measure.LossPeriodMean), Unit: "packets", Means: "lost one after another by a probe at half of the capacity, on average"},
	{Name: HalfRate, Metric: "sent_bits_per_second", Unit: "bit/s", Means: "rate of a probe at half of the capacity"},
	{Name: PassingSize, Metric: "path_mtu_bytes", Unit: "bytes", Means: "packets of {passing_size} are answered", Step: sizeOfPackets},
	{Name: SilentSize, Metric: "silent_packet_bytes", Unit: "bytes",
		Means: "packets of {silent_size} vanish: no answer, and no router says why", Step: sizeAtOnce},
	{Name: Allowed, Metric: "allowed_bits_per_second", Unit: "bit/s", Means: "what this limit allows"},
}

// define returns the definition of a fact; false: it is none about a way.
func define(n Name) (definition, bool) {
	for _, d := range defined() {
		if d.Name == n {
			return d, true
		}
	}
	return definition{}, false
}

// readBrought takes the facts that single rules bring out of a Result.
func (s *Subject) readBrought(from sort, r *measure.Result) {
	for i := range rules {
		for _, d := range rules[i].Brings {
			if d.From != from || d.Read == nil {
				continue
			}
			if value, told := d.Read(s, r); told {
				s.set(d.Name, exactly(value, r))
			}
		}
	}
}

// defined are the definitions of all facts about ways.
func defined() []definition {
	all := slices.Concat(definitions, oneWayDefinitions, exchangeDefinitions, eventDefinitions, flowDefinitions, flowLossDefinitions)
	for i := range rules {
		all = append(all, rules[i].Brings...)
	}
	return all
}

// format prints the value of a fact for people; of one that is counted, the number alone.
func format(value float64, unit string) string {
	if slices.Contains([]string{"ratio", "bytes", "bit/s", "s"}, unit) {
		return quantity.Format(value, unit)
	}
	return fmt.Sprintf("%.0f", value)
}
