package measure

// Metric is the name of one number that a Result may carry. The name ends in its unit.
type Metric string

// Round-trip delay (RFC 2681), over the samples that returned.
const (
	RTTMin    Metric = "rtt_min_seconds"
	RTTMean   Metric = "rtt_mean_seconds"
	RTTMedian Metric = "rtt_median_seconds"
	RTTP95    Metric = "rtt_p95_seconds"
	RTTP99    Metric = "rtt_p99_seconds"
	RTTMax    Metric = "rtt_max_seconds"
	RTTStddev Metric = "rtt_stddev_seconds"
)

// Counts of packets and the ratios made of them (RFC 2680, RFC 4737, RFC 5560).
const (
	SentPackets      Metric = "sent_packets"
	ReceivedPackets  Metric = "received_packets"
	LostPackets      Metric = "lost_packets"
	DuplicatePackets Metric = "duplicate_packets"
	ReorderedPackets Metric = "reordered_packets"
	LossRatio        Metric = "loss_ratio"
	LossBurstMax     Metric = "loss_burst_max_packets"
	ReorderingRatio  Metric = "reordering_ratio"
)

// Bulk transfer. Throughput is goodput: payload bytes that the receiving application got, over the time it took.
const (
	Throughput        Metric = "throughput_bits_per_second"
	ReverseThroughput Metric = "reverse_throughput_bits_per_second" // of the other direction of a bidirectional test
	SentRate          Metric = "sent_bits_per_second"
	SentBytes         Metric = "sent_bytes"
	ReceivedBytes     Metric = "received_bytes"

	ReverseSentBytes     Metric = "reverse_sent_bytes"
	ReverseReceivedBytes Metric = "reverse_received_bytes"

	Retransmits        Metric = "retransmits_packets"
	RetransmittedBytes Metric = "retransmitted_bytes"
	RwndLimitedRatio   Metric = "rwnd_limited_ratio"   // share of elapsed time that the receiver's window held the sender
	SndbufLimitedRatio Metric = "sndbuf_limited_ratio" // share of elapsed time that the send buffer held the sender
	CwndMax            Metric = "cwnd_max_bytes"
	CPUSender          Metric = "cpu_sender_ratio"
	CPUReceiver        Metric = "cpu_receiver_ratio"
	Jitter             Metric = "jitter_seconds"
)

// What the path is.
const (
	Capacity Metric = "capacity_bits_per_second" // of the IP layer, at the narrowest link
	PathMTU  Metric = "path_mtu_bytes"
	HopCount Metric = "hop_count"
)
