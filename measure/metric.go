package measure

import "strings"

// Metric is the name of one number that a Result may carry: lower-case words and digits joined by "_", of which the
// last are its unit.
type Metric string

// Units are what the name of a Metric may end in, with "_" before it.
var Units = []string{
	"bits_per_second", "bytes_per_second", "packets_per_second", "seconds", "bytes", "ratio", "packets", "count",
}

// Unit returns which of Units the name ends in, or "" if the name is none that a Metric may have.
func (m Metric) Unit() string {
	if strings.Trim(string(m), "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return ""
	}
	for _, unit := range Units {
		if name, found := strings.CutSuffix(string(m), "_"+unit); found && name != "" && 'a' <= name[0] && name[0] <= 'z' {
			return unit
		}
	}
	return ""
}

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

	// Available is what the narrowest link has left beside other traffic (RFC 5136); of a range, its low end.
	Available Metric = "available_bits_per_second"
	PathMTU   Metric = "path_mtu_bytes"
	HopCount  Metric = "hop_count"
)

// A diagnosis: goodput from the source to the target, and what the narrowest link can carry of it.
const (
	Achieved Metric = "achieved_bits_per_second"
	Expected Metric = "expected_bits_per_second"
)

// The host itself: what it is busy with, over the interval of the measurement, and what it has left at its end. Counts
// of packets are of that interval.
const (
	HostCPU        Metric = "host_cpu_ratio"         // of all cores' time: neither idle nor waiting for a disk
	HostCPUMax     Metric = "host_cpu_max_ratio"     // of the busiest core's
	HostCPUSoftIRQ Metric = "host_cpu_softirq_ratio" // where the kernel handles packets
	HostCPUIOWait  Metric = "host_cpu_iowait_ratio"
	HostCPUSteal   Metric = "host_cpu_steal_ratio" // that the hypervisor gave to others
	HostLoad       Metric = "host_load_ratio"      // load average of a minute for each core

	HostMemoryAvailable      Metric = "host_memory_available_bytes"
	HostMemoryAvailableRatio Metric = "host_memory_available_ratio"
	HostSwapUsed             Metric = "host_swap_used_bytes"

	HostTCPMemory      Metric = "host_tcp_memory_bytes"             // in all TCP buffers
	HostTCPMemoryRatio Metric = "host_tcp_memory_ratio"             // of where the kernel starts to save (tcp_mem's second)
	HostTCPReceiveMax  Metric = "host_tcp_receive_buffer_max_bytes" // that the kernel gives one socket (tcp_rmem's third)
	HostTCPSendMax     Metric = "host_tcp_send_buffer_max_bytes"    // likewise, tcp_wmem's third
	HostTCPSockets     Metric = "host_tcp_sockets_count"
	HostTCPSent        Metric = "host_tcp_sent_packets" // segments with those sent again
	HostTCPRetransmits Metric = "host_tcp_retransmits_packets"
	HostTCPListenDrops Metric = "host_tcp_listen_drops_packets" // connections that no program took in time

	HostDiskFree        Metric = "host_disk_free_bytes" // to programs without privilege
	HostDiskFreeRatio   Metric = "host_disk_free_ratio"
	HostInodesFreeRatio Metric = "host_disk_free_inodes_ratio"
	HostDiskRead        Metric = "host_disk_read_bytes_per_second" // of all disks
	HostDiskWrite       Metric = "host_disk_write_bytes_per_second"
	HostDiskBusy        Metric = "host_disk_busy_ratio" // of the busiest disk's time

	HostReceived      Metric = "host_received_bits_per_second" // of the interface, or all adapters
	HostSent          Metric = "host_sent_bits_per_second"
	HostReceiveErrors Metric = "host_receive_errors_packets"
	HostReceiveDrops  Metric = "host_receive_drops_packets"
	HostSendErrors    Metric = "host_send_errors_packets"
	HostSendDrops     Metric = "host_send_drops_packets"
	HostLinkRate      Metric = "host_link_bits_per_second" // of the interface, or the fastest adapter
)
