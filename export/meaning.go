package export

import (
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// meanings are the HELP texts of what our own probes measure. They stay as they are: receivers take another text for
// another metric.
var meanings = map[measure.Metric]string{
	measure.RTTMin:    "Smallest round-trip delay (RFC 2681) of the probes that returned.",
	measure.RTTMean:   "Mean round-trip delay (RFC 2681) of the probes that returned.",
	measure.RTTMedian: "Median round-trip delay (RFC 2681) of the probes that returned.",
	measure.RTTP95:    "95th percentile of the round-trip delay (RFC 2681) of the probes that returned.",
	measure.RTTP99:    "99th percentile of the round-trip delay (RFC 2681) of the probes that returned.",
	measure.RTTMax:    "Largest round-trip delay (RFC 2681) of the probes that returned.",
	measure.RTTStddev: "Standard deviation of the round-trip delay (RFC 2681) of the probes that returned.",

	measure.SentPackets:      "Packets sent in the last measurement.",
	measure.ReceivedPackets:  "Packets of the last measurement that arrived.",
	measure.LostPackets:      "Packets of the last measurement that did not arrive.",
	measure.DuplicatePackets: "Packets of the last measurement that arrived again (RFC 5560).",
	measure.ReorderedPackets: "Packets of the last measurement that arrived after a later one (RFC 4737).",
	measure.LossRatio:        "Share of the packets sent that were lost (RFC 2680, RFC 2681), 0 to 1.",
	measure.LossBurstMax:     "Longest run of packets lost one after another.",
	measure.ReorderingRatio:  "Share of the packets received that were reordered (RFC 4737), 0 to 1.",

	measure.Throughput:           "Goodput: payload that the receiving application got, over the time it took.",
	measure.ReverseThroughput:    "Goodput of the other direction of a bidirectional test.",
	measure.SentRate:             "Payload that the sending application wrote, over the time it took.",
	measure.SentBytes:            "Payload that the sending application wrote.",
	measure.ReceivedBytes:        "Payload that the receiving application got.",
	measure.ReverseSentBytes:     "Payload written in the other direction of a bidirectional test.",
	measure.ReverseReceivedBytes: "Payload received in the other direction of a bidirectional test.",
	measure.Retransmits:          "Segments that TCP sent again.",
	measure.RetransmittedBytes:   "Bytes that TCP sent again.",
	measure.RwndLimitedRatio:     "Share of the time in which the receiver's window held the sender, 0 to 1.",
	measure.SndbufLimitedRatio:   "Share of the time in which the send buffer held the sender, 0 to 1.",
	measure.CwndMax:              "Largest congestion window.",
	measure.CPUSender:            "Share of one core that the sending program used, 0 to 1.",
	measure.CPUReceiver:          "Share of one core that the receiving program used, 0 to 1.",
	measure.Jitter:               "Interarrival jitter (RFC 3550).",

	measure.Achieved:  "Goodput that a diagnosis of the path achieved.",
	measure.Expected:  "Goodput that the narrowest link could carry, by a diagnosis of the path.",
	measure.Capacity:  "Capacity of the narrowest link, at the IP layer (RFC 5136).",
	measure.Available: "What the narrowest link has left beside other traffic (RFC 5136), its low end.",
	measure.PathMTU:   "Largest packet that the path carries whole.",
	measure.HopCount:  "Hops to the target.",

	measure.HostCPU:        "Share of all cores' time that was neither idle nor spent waiting for a disk, 0 to 1.",
	measure.HostCPUMax:     "Share of the busiest core's time that was neither idle nor spent waiting for a disk, 0 to 1.",
	measure.HostCPUSoftIRQ: "Share of all cores' time in software interrupts, where the kernel handles packets, 0 to 1.",
	measure.HostCPUIOWait:  "Share of all cores' time spent waiting for a disk, 0 to 1.",
	measure.HostCPUSteal:   "Share of all cores' time that the hypervisor gave to others, 0 to 1.",
	measure.HostLoad:       "Load average of a minute for each core.",

	measure.HostMemoryAvailable:      "Memory that programs can still have.",
	measure.HostMemoryAvailableRatio: "Share of the memory that programs can still have, 0 to 1.",
	measure.HostSwapUsed:             "Swap space in use.",

	measure.HostTCPMemory:      "Memory in all TCP buffers.",
	measure.HostTCPMemoryRatio: "Memory in all TCP buffers, as a share of where the kernel starts to save (tcp_mem).",
	measure.HostTCPReceiveMax:  "Largest receive buffer that the kernel gives one TCP socket (tcp_rmem).",
	measure.HostTCPSendMax:     "Largest send buffer that the kernel gives one TCP socket (tcp_wmem).",
	measure.HostTCPSockets:     "TCP sockets.",
	measure.HostTCPSent:        "TCP segments that the host sent in the last measurement, those sent again included.",
	measure.HostTCPRetransmits: "TCP segments that the host sent again in the last measurement.",
	measure.HostTCPListenDrops: "TCP connections of the last measurement that no program took in time.",

	measure.HostDiskFree:        "Space that programs without privilege can still have.",
	measure.HostDiskFreeRatio:   "Share of the disk that programs without privilege can still have, 0 to 1.",
	measure.HostInodesFreeRatio: "Share of the disk's inodes that are free, 0 to 1.",
	measure.HostDiskRead:        "What was read from all disks.",
	measure.HostDiskWrite:       "What was written to all disks.",
	measure.HostDiskBusy:        "Share of the time in which the busiest disk was busy, 0 to 1.",

	measure.HostReceived:      "What the interface, or all adapters, received.",
	measure.HostSent:          "What the interface, or all adapters, sent.",
	measure.HostReceiveErrors: "Packets of the last measurement that were received with errors.",
	measure.HostReceiveDrops:  "Packets of the last measurement that were received and dropped.",
	measure.HostSendErrors:    "Packets of the last measurement that could not be sent for errors.",
	measure.HostSendDrops:     "Packets of the last measurement that were dropped when they were to be sent.",
	measure.HostLinkRate:      "Rate of the interface's link, or of the fastest adapter's.",
}

// help is the HELP text of a metric: what it means, or, of a program that is not ours, what it is called.
func help(m measure.Metric) string {
	if text, ours := meanings[m]; ours {
		return text
	}
	unit := m.Unit()
	text := "Measured by a tool of the site: " + strings.ReplaceAll(strings.TrimSuffix(string(m), "_"+unit), "_", " ")
	if unit == "count" {
		return text + "."
	}
	return text + ", in " + strings.ReplaceAll(unit, "_", " ") + "."
}
