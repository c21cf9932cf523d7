package measure

// Connections of programs, as the kernel of one end shows them: payload, and what was sent again.
const (
	Sockets         Metric = "sockets_count"
	SocketsSent     Metric = "sockets_sent_bits_per_second"
	SocketsReceived Metric = "sockets_received_bits_per_second"
	SocketsResent   Metric = "sockets_retransmits_packets"
)

func socketMetrics() []Definition {
	return []Definition{
		{Metric: Sockets, Label: "Connections", Group: "Transfer",
			Help: "TCP connections of this host that were seen, to the target where there is one.",
			Text: "How many TCP connections the kernel had while it was asked, those that ended meanwhile included.",
			See:  []string{"sockets_sent_bits_per_second"}},
		{Metric: SocketsSent, Label: "Sent on connections", Group: "Transfer",
			Help: "Payload of programs that was acknowledged, on all connections that were seen.",
			Text: "What the programs of this host sent and the other ends acknowledged. No test moved it: it is what the host does anyway.",
			See:  []string{"sockets_received_bits_per_second", "throughput_bits_per_second"}},
		{Metric: SocketsReceived, Label: "Received on connections", Group: "Transfer",
			Help: "Payload for programs that arrived, on all connections that were seen.",
			Text: "What arrived in order for the programs of this host, whether they have read it or not.",
			See:  []string{"sockets_sent_bits_per_second"}},
		{Metric: SocketsResent, Label: "Sent again on connections", Group: "Transfer", Better: BetterLow,
			Help: "Segments that programs' connections sent again while they were watched.",
			Text: "What the kernel had to send a second time for the programs of this host.",
			See:  []string{"retransmits_packets", "loss"}},
	}
}
