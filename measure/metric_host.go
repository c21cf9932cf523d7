package measure

import "slices"

// The host itself: what it is busy with, over the interval of the measurement, and what it has left at its end. Counts
// of packets are of that interval.
const (
	HostCPU        Metric = "host_cpu_ratio"         // of all cores' time: neither idle nor waiting for a disk
	HostCPUMax     Metric = "host_cpu_max_ratio"     // of the busiest core's
	HostCPUSoftIRQ Metric = "host_cpu_softirq_ratio" // where the kernel handles packets
	HostCPUIOWait  Metric = "host_cpu_iowait_ratio"
	HostCPUSteal   Metric = "host_cpu_steal_ratio"        // that the hypervisor gave to others
	HostLoad       Metric = "host_load_ratio"             // load average of a minute for each core
	HostCipher     Metric = "host_cipher_bits_per_second" // that one core encrypts, by the faster of two ciphers
	HostDigest     Metric = "host_digest_bits_per_second" // that one core makes a SHA-256 of

	HostMemoryAvailable      Metric = "host_memory_available_bytes"
	HostMemoryAvailableRatio Metric = "host_memory_available_ratio"
	HostSwapUsed             Metric = "host_swap_used_bytes"

	HostTCPMemory      Metric = "host_tcp_memory_bytes"             // in all TCP buffers
	HostTCPMemoryRatio Metric = "host_tcp_memory_ratio"             // of where the kernel starts to save (tcp_mem's second)
	HostTCPReceiveMax  Metric = "host_tcp_receive_buffer_max_bytes" // that the kernel gives one socket (tcp_rmem's third)
	HostTCPSendMax     Metric = "host_tcp_send_buffer_max_bytes"    // that the kernel gives one socket (tcp_wmem's third)
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

	HostFileRead        Metric = "host_file_read_bits_per_second" // of a file in large blocks, past the kernel's cache where that can be
	HostFileWrite       Metric = "host_file_write_bits_per_second"
	HostFileRandomRead  Metric = "host_file_random_read_bits_per_second" // in blocks of 4 KiB
	HostFileRandomWrite Metric = "host_file_random_write_bits_per_second"

	HostReceived      Metric = "host_received_bits_per_second" // of the interface, or all adapters
	HostSent          Metric = "host_sent_bits_per_second"
	HostReceiveErrors Metric = "host_receive_errors_packets"
	HostReceiveDrops  Metric = "host_receive_drops_packets"
	HostSendErrors    Metric = "host_send_errors_packets"
	HostSendDrops     Metric = "host_send_drops_packets"

	HostSettingsBad      Metric = "host_settings_bad_count"      // that keep the host from what it is to carry
	HostSettingsDoubtful Metric = "host_settings_doubtful_count" // that cost something, or will in some cases
	HostSettingsUnknown  Metric = "host_settings_unknown_count"  // that could not be read

	HostLinkRate Metric = "host_link_bits_per_second" // of the interface, or the fastest adapter
)

func hostMetrics() []Definition {
	all := slices.Concat(processorMetrics(), memoryMetrics(), hostTCPMetrics(), diskMetrics(), interfaceMetrics(), settingMetrics())
	for i := range all {
		all[i].Group, all[i].Follows = "Host", FollowsHost
	}
	return all
}

func processorMetrics() []Definition {
	return []Definition{
		{Metric: HostCPU, Label: "Processor use of the host", Better: BetterLow, Draw: DrawLine,
			Help: "Share of all cores' time that was neither idle nor spent waiting for a disk, 0 to 1.",
			Text: "The share of the time of all cores that was neither idle nor spent waiting for a disk.",
			See:  []string{"host-cpu", "host_cpu_max_ratio"}},
		{Metric: HostCPUMax, Label: "Use of the busiest core", Better: BetterLow, Draw: DrawLine,
			Help: "Share of the busiest core's time that was neither idle nor spent waiting for a disk, 0 to 1.",
			Text: "The share of one core's time, of the core that did most. One full core limits a single transfer, though " +
				"all others idle.",
			See: []string{"host-cpu", "host_cpu_softirq_ratio"}},
		{Metric: HostCPUSoftIRQ, Label: "Processor time for packets", Better: BetterLow, Draw: DrawLine,
			Help: "Share of all cores' time in software interrupts, where the kernel handles packets, 0 to 1.",
			Text: "The share of the time that the kernel spent on soft interrupts, where it handles arriving packets.",
			See:  []string{"host-cpu", "host_receive_drops_packets"}},
		{Metric: HostCPUIOWait, Label: "Time spent waiting for disks", Better: BetterLow, Draw: DrawLine,
			Help: "Share of all cores' time spent waiting for a disk, 0 to 1.",
			Text: "The share of the time in which a core had nothing to do but to wait for a disk.",
			See:  []string{"host_disk_busy_ratio", "application-limited"}},
		{Metric: HostCPUSteal, Label: "Time taken by the hypervisor", Better: BetterLow, Draw: DrawLine,
			Help: "Share of all cores' time that the hypervisor gave to others, 0 to 1.",
			Text: "The share of the time in which this virtual machine could have run and the hypervisor ran others. Above " +
				"some percent, its measurements suffer.",
			See: []string{"host-cpu"}},
		{Metric: HostLoad, Label: "Load for each core", Better: BetterLow, Draw: DrawLine,
			Help: "Load average of a minute for each core.",
			Text: "The load average of a minute, divided by the number of cores. Above one, programs wait for a processor " +
				"or a disk.",
			See: []string{"host-cpu"}},
		{Metric: HostCipher, Label: "What one core encrypts", Better: BetterHigh,
			Help: "Rate at which one core encrypts, by the faster of AES-128-GCM and ChaCha20-Poly1305.",
			Text: "What one core encrypts, by the faster of two ciphers that secure transfers use. A program that encrypts in one " +
				"thread moves no more.",
			See: []string{"host-cpu", "crypto-limited", "host_digest_bits_per_second"}},
		{Metric: HostDigest, Label: "What one core proves by SHA-256", Better: BetterHigh,
			Help: "Rate at which one core makes the SHA-256 of what is copied.",
			Text: "How much one core makes a SHA-256 of, by which copies are proven. A program that does so in one thread moves no more.",
			See:  []string{"host-cpu", "host_cipher_bits_per_second"}},
	}
}

func memoryMetrics() []Definition {
	return []Definition{
		{Metric: HostMemoryAvailable, Label: "Memory available", Better: BetterHigh,
			Help: "Memory that programs can still have.",
			Text: "What programs could still have without swapping, as the kernel estimates it.",
			See:  []string{"host_memory_available_ratio", "host_swap_used_bytes"}},
		{Metric: HostMemoryAvailableRatio, Label: "Share of memory available", Better: BetterHigh, Draw: DrawLine,
			Help: "Share of the memory that programs can still have, 0 to 1.",
			Text: "What programs could still have without swapping, as a share of all memory.",
			See:  []string{"host_memory_available_bytes"}},
		{Metric: HostSwapUsed, Label: "Swap in use", Better: BetterLow,
			Help: "Swap space in use.",
			Text: "How much of what programs keep was moved from memory to a disk.",
			See:  []string{"host_memory_available_bytes"}},
	}
}

func hostTCPMetrics() []Definition {
	return []Definition{
		{Metric: HostTCPMemory, Label: "Memory in TCP buffers",
			Help: "Memory in all TCP buffers.",
			Text: "What all TCP connections of the host hold in their buffers.",
			See:  []string{"host_tcp_memory_ratio", "buffer-tuning"}},
		{Metric: HostTCPMemoryRatio, Label: "TCP buffers against their limit", Draw: DrawLine,
			Help: "Memory in all TCP buffers, as a share of where the kernel starts to save (tcp_mem).",
			Text: "The memory in TCP buffers as a share of where the kernel begins to save (the second value of " +
				"net.ipv4.tcp_mem).",
			Shows: "Near one, windows shrink on all connections of the host, however large each may be.",
			See:   []string{"host_tcp_memory_bytes", "receive-window"}},
		{Metric: HostTCPReceiveMax, Label: "Largest receive buffer of a connection",
			Help: "Largest receive buffer that the kernel gives one TCP socket (tcp_rmem).",
			Text: "What the kernel gives one socket at most to receive with (the third value of net.ipv4.tcp_rmem). About " +
				"half of it becomes window.",
			Shows: "It should hold four bandwidth-delay products of the fastest, farthest transfer.",
			See:   []string{"receive-window-limited", "buffer-tuning", "bdp"}},
		{Metric: HostTCPSendMax, Label: "Largest send buffer of a connection",
			Help: "Largest send buffer that the kernel gives one TCP socket (tcp_wmem).",
			Text: "What the kernel gives one socket at most to send with (the third value of net.ipv4.tcp_wmem).",
			See:  []string{"send-buffer-limited", "buffer-tuning", "bdp"}},
		{Metric: HostTCPSockets, Label: "TCP connections", Draw: DrawLine,
			Help: "TCP sockets.",
			Text: "How many TCP sockets are open on the host.",
			See:  []string{"host_tcp_memory_bytes"}},
		{Metric: HostTCPSent, Label: "TCP segments sent by the host",
			Help: "TCP segments that the host sent in the last measurement, those sent again included.",
			Text: "Segments of all connections in the time of the measurement, with those sent again.",
			See:  []string{"host_tcp_retransmits_packets"}},
		{Metric: HostTCPRetransmits, Label: "TCP segments that the host sent again", Better: BetterLow, Draw: DrawLine,
			Help:  "TCP segments that the host sent again in the last measurement.",
			Text:  "Segments of all connections that were sent a second time in the time of the measurement.",
			Shows: "As a share of what was sent, it is the loss that this host's users feel.",
			See:   []string{"host_tcp_sent_packets", "loss"}},
		{Metric: HostTCPListenDrops, Label: "Connections that no program took", Better: BetterLow,
			Help: "TCP connections of the last measurement that no program took in time.",
			Text: "Attempts to connect that the kernel dropped, because the program that listens did not take the earlier " +
				"ones in time.",
			Shows: "To a caller it looks like loss. Connections take a second and more to open on a path that loses nothing.",
			See:   []string{"fault-accept-queue-full"}},
	}
}

func diskMetrics() []Definition {
	return []Definition{
		{Metric: HostDiskFree, Label: "Free space", Better: BetterHigh,
			Help: "Space that programs without privilege can still have.",
			Text: "What programs without privilege can still write to the file system.",
			See:  []string{"host_disk_free_ratio"}},
		{Metric: HostDiskFreeRatio, Label: "Share of the file system that is free", Better: BetterHigh, Draw: DrawLine,
			Help: "Share of the disk that programs without privilege can still have, 0 to 1.",
			Text: "Free space for programs without privilege, as a share of all.",
			See:  []string{"host_disk_free_bytes"}},
		{Metric: HostInodesFreeRatio, Label: "Share of inodes that are free", Better: BetterHigh,
			Help: "Share of the disk's inodes that are free, 0 to 1.",
			Text: "How many more files the file system can name, as a share of all. At zero it is full, whatever space is " +
				"left.",
			See: []string{"host_disk_free_ratio"}},
		{Metric: HostDiskRead, Label: "Read from disks", Draw: DrawLine,
			Help: "What was read from all disks.",
			Text: "The rate at which all disks of the host were read.",
			See:  []string{"host_disk_busy_ratio"}},
		{Metric: HostDiskWrite, Label: "Written to disks", Draw: DrawLine,
			Help: "What was written to all disks.",
			Text: "The rate at which all disks of the host were written.",
			See:  []string{"host_disk_busy_ratio"}},
		{Metric: HostDiskBusy, Label: "Use of the busiest disk", Better: BetterLow, Draw: DrawLine,
			Help: "Share of the time in which the busiest disk was busy, 0 to 1.",
			Text: "The share of the time in which the busiest disk had something to do. Near one, a transfer to or from " +
				"files may wait for it.",
			See: []string{"application-limited", "host_cpu_iowait_ratio"}},
		{Metric: HostFileRead, Label: "How fast a file is read", Better: BetterHigh, Draw: DrawLine,
			Help: "Rate at which a file is read in large blocks, past the kernel's cache where that can be.",
			Text: "How fast a trial file was read from the disk in blocks of 1 MiB, one after another. No transfer from that folder is faster.",
			See:  []string{"disk-limited", "host_file_write_bits_per_second"}},
		{Metric: HostFileWrite, Label: "How fast a file is written", Better: BetterHigh, Draw: DrawLine,
			Help: "Rate at which a file is written in large blocks until it is on the disk, past the kernel's cache where that can be.",
			Text: "How fast a trial file was written to the disk in blocks of 1 MiB, one after another. No transfer into that folder is faster.",
			See:  []string{"disk-limited", "host_file_read_bits_per_second"}},
		{Metric: HostFileRandomRead, Label: "How fast small blocks of a file are read", Better: BetterHigh, Draw: DrawLine,
			Help: "Rate at which blocks of 4 KiB at random places of a file are read, one at a time.",
			Text: "What a disk gives where many small files or records are read, one at a time.",
			See:  []string{"disk-limited", "host_file_read_bits_per_second"}},
		{Metric: HostFileRandomWrite, Label: "How fast small blocks of a file are written", Better: BetterHigh, Draw: DrawLine,
			Help: "Rate at which blocks of 4 KiB at random places of a file are written, one at a time.",
			Text: "What a disk takes where many small files or records are written, one at a time.",
			See:  []string{"disk-limited", "host_file_write_bits_per_second"}},
	}
}

func interfaceMetrics() []Definition {
	return []Definition{
		{Metric: HostReceived, Label: "Received by the host", Draw: DrawLine,
			Help: "What the interface, or all adapters, received.",
			Text: "The rate at which the interface, or all adapters together, received.",
			See:  []string{"host_sent_bits_per_second", "host_link_bits_per_second"}},
		{Metric: HostSent, Label: "Sent by the host", Draw: DrawLine,
			Help: "What the interface, or all adapters, sent.",
			Text: "The rate at which the interface, or all adapters together, sent.",
			See:  []string{"host_received_bits_per_second", "host_link_bits_per_second"}},
		{Metric: HostReceiveErrors, Label: "Damaged packets received", Better: BetterLow, Draw: DrawLine,
			Help:  "Packets of the last measurement that were received with errors.",
			Text:  "Packets that the adapter threw away because their check sequence was wrong, or that came in pieces.",
			Shows: "Rising, the cable, the optics or the port is bad, or one end is set to half duplex.",
			See:   []string{"random-loss", "duplex-mismatch", "fault-bad-cable"}},
		{Metric: HostReceiveDrops, Label: "Received packets dropped by the host", Better: BetterLow, Draw: DrawLine,
			Help: "Packets of the last measurement that were received and dropped.",
			Text: "Packets that arrived whole, and for which host or adapter had no room.",
			See:  []string{"host-cpu", "host_cpu_softirq_ratio"}},
		{Metric: HostSendErrors, Label: "Packets that could not be sent", Better: BetterLow, Draw: DrawLine,
			Help: "Packets of the last measurement that could not be sent for errors.",
			Text: "Packets that the adapter failed to send, with collisions that came too late.",
			See:  []string{"duplex-mismatch"}},
		{Metric: HostSendDrops, Label: "Packets dropped before sending", Better: BetterLow, Draw: DrawLine,
			Help: "Packets of the last measurement that were dropped when they were to be sent.",
			Text: "Packets that the host's own queue had no room for.",
			See:  []string{"shallow-buffer"}},
		{Metric: HostLinkRate, Label: "Rate of the host's link", Better: BetterHigh,
			Help:  "Rate of the interface's link, or of the fastest adapter's.",
			Text:  "The rate that the interface, or the fastest adapter, agreed on with its neighbour.",
			Shows: "Less than the port is sold as, and the negotiation failed or a pair of the cable is broken.",
			See:   []string{"duplex-mismatch", "bottleneck"}},
	}
}

func settingMetrics() []Definition {
	return []Definition{
		{Metric: HostSettingsBad, Label: "Settings that are in the way", Better: BetterLow,
			Help: "Settings of the host that keep it from the rate that it is to carry.",
			Text: "How many settings of the host keep it from the rate and the round trip that it was audited for.",
			See:  []string{"buffer-tuning"}},
		{Metric: HostSettingsDoubtful, Label: "Settings that cost something", Better: BetterLow,
			Help: "Settings of the host that cost something, or will in some cases.",
			Text: "How many settings of the host cost something, or will in some cases, or run otherwise than files set them.",
			See:  []string{"host_settings_bad_count"}},
		{Metric: HostSettingsUnknown, Label: "Settings that could not be read", Better: BetterLow,
			Help: "Settings of the host that could not be read.",
			Text: "How many settings of the host its audit could not read: its driver does not show them, or they need root.",
			See:  []string{"host_settings_bad_count"}},
	}
}
