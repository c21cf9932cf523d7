package measure

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
	FileWaitSender     Metric = "file_wait_sender_ratio"   // share of the time in which the connection waited for the sender's file to be read
	FileWaitReceiver   Metric = "file_wait_receiver_ratio" // and for the receiver's to be written
)

func transferMetrics() []Definition {
	return []Definition{
		{Metric: Throughput, Label: "Throughput", Group: "Transfer", Better: BetterHigh, Draw: DrawLine,
			Help: "Goodput: payload that the receiving application got, over the time it took.",
			Text: "What the receiving program got, divided by the time it took. Headers and what was sent twice do not " +
				"count, so that it is goodput.",
			See:    []string{"goodput", "capacity_bits_per_second", "overhead"},
			Source: "RFC 2647, RFC 6349"},
		{Metric: ReverseThroughput, Label: "Throughput, reverse", Group: "Transfer", Better: BetterHigh, Draw: DrawLine,
			Help: "Goodput of the other direction of a bidirectional test.",
			Text: "The same of the other direction, in a test that sends both ways at once.",
			See:  []string{"throughput_bits_per_second"}},
		{Metric: SentRate, Label: "Rate of sending", Group: "Transfer", Better: BetterHigh,
			Help: "Payload that the sending application wrote, over the time it took.",
			Text: "What the sender handed to the network. Above the throughput, the difference was lost or was still on its " +
				"way.",
			See: []string{"throughput_bits_per_second", "retransmits_packets"}},
		{Metric: SentBytes, Label: "Bytes sent", Group: "Transfer",
			Help: "Payload that the sending application wrote.",
			Text: "What the sending program handed over in the whole test.",
			See:  []string{"received_bytes"}},
		{Metric: ReceivedBytes, Label: "Bytes received", Group: "Transfer",
			Help: "Payload that the receiving application got.",
			Text: "What the receiving program got in the whole test.",
			See:  []string{"sent_bytes", "goodput"}},
		{Metric: ReverseSentBytes, Label: "Bytes sent, the other way", Group: "Transfer",
			Help: "Payload written in the other direction of a bidirectional test.",
			Text: "What was sent in the other direction of a test that sends both ways at once.",
			See:  []string{"sent_bytes"}},
		{Metric: ReverseReceivedBytes, Label: "Bytes received, the other way", Group: "Transfer",
			Help: "Payload received in the other direction of a bidirectional test.",
			Text: "What was received in the other direction of a test that sends both ways at once.",
			See:  []string{"received_bytes"}},
	}
}

// tcpMetrics are what the kernels of both ends say of a transfer by TCP.
func tcpMetrics() []Definition {
	return []Definition{
		{Metric: Retransmits, Label: "Retransmissions", Group: "Transfer", Better: BetterLow, Warn: 100, Bad: 1000,
			Help: "Segments that TCP sent again.",
			Text: "Segments that TCP sent a second time because they seemed lost. Some were not: an acknowledgement that is " +
				"late or out of order makes TCP repeat what has arrived.",
			Shows: "Few of them in one burst, at the end of slow start, are TCP's own doing. Many, evenly spread, are the " +
				"path's.",
			See:    []string{"loss", "random-loss", "slow-start", "reordering"},
			Source: "RFC 6298, RFC 8985"},
		{Metric: RetransmittedBytes, Label: "Bytes sent again", Group: "Transfer", Better: BetterLow,
			Help: "Bytes that TCP sent again.",
			Text: "The payload of what TCP sent a second time.",
			See:  []string{"retransmits_packets"}},
		{Metric: RwndLimitedRatio, Label: "Share of the time held by the receiver's window", Group: "Transfer", Better: BetterLow,
			Help: "Share of the time in which the receiver's window held the sender, 0 to 1.",
			Text: "How much of the transfer the sender could not send because the receiver had no room, by the account of " +
				"the sender's kernel.",
			Shows:  "Above one half the receiver's window is what limits. Where it does not, the share is under a tenth.",
			See:    []string{"receive-window-limited", "receive-window", "window"},
			Source: "Linux, TCP_INFO"},
		{Metric: SndbufLimitedRatio, Label: "Share of the time held by the send buffer", Group: "Transfer", Better: BetterLow,
			Help: "Share of the time in which the send buffer held the sender, 0 to 1.",
			Text: "How much of the transfer the sender's buffer was full of what was not yet acknowledged.",
			Shows: "From a fifth on, the send buffer limits. The kernel books a part of that time to other causes, so it " +
				"never comes near one.",
			See:    []string{"send-buffer-limited"},
			Source: "Linux, TCP_INFO"},
		{Metric: CwndMax, Label: "Largest congestion window", Group: "Transfer",
			Help:   "Largest congestion window.",
			Text:   "The most that congestion control allowed to be under way at any moment of the test.",
			See:    []string{"congestion-control", "bandwidth-delay-product"},
			Source: "RFC 5681"},
		{Metric: CPUSender, Label: "Processor time of the sender", Group: "Transfer", Better: BetterLow,
			Help: "Share of one core that the sending program used, 0 to 1.",
			Text: "The share of one processor core that the sending program and its kernel took. Near one, the host is what " +
				"limits.",
			See: []string{"host-cpu", "cpu_receiver_ratio"}},
		{Metric: CPUReceiver, Label: "Processor time of the receiver", Group: "Transfer", Better: BetterLow,
			Help: "Share of one core that the receiving program used, 0 to 1.",
			Text: "The share of one processor core that the receiving program took.",
			See:  []string{"host-cpu", "cpu_sender_ratio"}},
		{Metric: FileWaitSender, Label: "Share of the time spent waiting for the sender's file", Group: "Transfer", Better: BetterLow,
			Help: "Share of the time in which the connection waited for the sender's file to be read, 0 to 1.",
			Text: "How much of a test from a file the connection had nothing to send, because the file was still being read. From a half " +
				"on, the disk sets the pace and not the path.",
			See: []string{"disk-limited", "file_wait_receiver_ratio"}},
		{Metric: FileWaitReceiver, Label: "Share of the time spent waiting for the receiver's file", Group: "Transfer", Better: BetterLow,
			Help: "Share of the time in which what came waited for the receiver's file to be written, 0 to 1.",
			Text: "How much of a test into a file nothing was read from the connection, because the file was still being written. From a " +
				"half on, the disk sets the pace and not the path.",
			See: []string{"disk-limited", "file_wait_sender_ratio"}},
	}
}
