package host

const (
	linuxReceiveShare = "RFC 7323 section 1.1; Linux shows half of a receive buffer as window (tcp_adv_win_scale)"
	manualIP          = "Linux, Documentation/networking/ip-sysctl.rst"
)

// twiceProduct is what a buffer needs: Linux counts its bookkeeping against it as well, and shows half of it as window.
func twiceProduct(n Need) float64 { return 2 * n.product() }

// tcpItems are the settings that each connection begins with.
var tcpItems = []Item{
	{ID: "tcp-rmem", Title: "Receive buffers of TCP", Area: TCP, Key: "net.ipv4.tcp_rmem", bad: Problem, wants: thirdLeast(twiceProduct),
		Means: "The third number is the largest buffer that the kernel gives to a connection that receives; its half is the largest window. " +
			"A diagnosis asks for some times as much, so that losses are repaired at the full rate.",
		Formula: "2 × rate × round trip, at the least", Source: linuxReceiveShare},
	{ID: "tcp-wmem", Title: "Send buffers of TCP", Area: TCP, Key: "net.ipv4.tcp_wmem", bad: Problem, wants: thirdLeast(twiceProduct),
		Means: "The third number is the largest buffer that the kernel gives to a connection that sends: what is on its way must stay in it. " +
			"A diagnosis asks for some times as much, so that losses are repaired at the full rate.",
		Formula: "2 × rate × round trip, at the least", Source: "RFC 7323 section 1.1; bookkeeping takes up to half of a send buffer"},
	{ID: "tcp-autotuning", Title: "Receive buffers that grow with the path", Area: TCP, Key: "net.ipv4.tcp_moderate_rcvbuf", bad: Problem, wants: one("1"),
		Means:  "The kernel lets receive buffers grow with the path; without it each stays at the second number of tcp_rmem.",
		Source: manualIP},
	{ID: "tcp-window-share", Title: "The part of a receive buffer that is window", Area: TCP, Key: "net.ipv4.tcp_adv_win_scale", bad: Warning, wants: one("1", "2", "3"),
		Means: "How much of a receive buffer is shown as window before Linux 6.6: 1 is a half; -2 is a quarter.", Source: manualIP},
	{ID: "tcp-window-scaling", Title: "Windows above 64 KiB", Area: TCP, Key: "net.ipv4.tcp_window_scaling", bad: Problem, wants: scaling,
		Means:   "Without the option no window is larger than 65,535 bytes.",
		Formula: "1 where rate × round trip > 65535 bytes", Source: "RFC 7323 section 2"},
	{ID: "tcp-sack", Title: "Selective acknowledgements", Area: TCP, Key: "net.ipv4.tcp_sack", bad: Problem, wants: one("1"),
		Means: "Selective acknowledgements tell the sender what is missing; without them it repairs one loss each round trip.", Source: "RFC 2018"},
	{ID: "tcp-dsack", Title: "Word of packets that came twice", Area: TCP, Key: "net.ipv4.tcp_dsack", bad: Warning, wants: one("1"),
		Means: "The receiver tells of packets that came twice, so that the sender sees that it was wrong to slow down.", Source: "RFC 2883, RFC 3708"},
	{ID: "tcp-timestamps", Title: "Time stamps of TCP", Area: TCP, Key: "net.ipv4.tcp_timestamps", bad: Warning, wants: one("1", "2"),
		Means:  "Time stamps give a round trip for each packet, and keep old packets apart when sequence numbers come round, after 34 s at 1 Gbit/s.",
		Source: "RFC 7323 sections 4 and 5"},
	{ID: "tcp-congestion-control", Title: "Congestion control of TCP", Area: TCP, Key: "net.ipv4.tcp_congestion_control", bad: Warning, wants: congestion,
		Means:   "How fast a connection takes the path again after a loss. Reno adds a packet each round trip, which takes minutes on a long fast path.",
		Formula: "rate × round trip² / (16 × MSS) is how long Reno takes after a loss", Source: "RFC 5681; RFC 9438"},
	{ID: "tcp-loss-recovery", Title: "Losses told by time", Area: TCP, Key: "net.ipv4.tcp_recovery", bad: Warning, wants: one("1", "3", "5", "7"),
		Means: "Losses are told by the time that has passed (RACK), so that reordering and lost repairs do not stop a connection.", Source: "RFC 8985"},
	{ID: "tcp-tail-probe", Title: "A probe when the last packet is lost", Area: TCP, Key: "net.ipv4.tcp_early_retrans", bad: Warning, wants: one("3", "4"),
		Means: "The last packet is sent again after two round trips, before the retransmission timer, which waits 200 ms and more.", Source: "RFC 8985 section 7"},
	{ID: "tcp-spurious-timeouts", Title: "Time-outs that were wrong", Area: TCP, Key: "net.ipv4.tcp_frto", bad: Warning, wants: one("2", "1"),
		Means: "A sender notices that a time-out was wrong, and goes on as before it.", Source: "RFC 5682"},
	{ID: "tcp-reordering", Title: "How far packets may be out of order", Area: TCP, Key: "net.ipv4.tcp_max_reordering", bad: Warning, wants: constant(300),
		Means: "How far out of order packets may come before they count as lost, at most.", Source: manualIP + ", whose default is 300"},
	{ID: "tcp-mtu-probing", Title: "Smaller packets where large ones vanish", Area: TCP, Key: "net.ipv4.tcp_mtu_probing", bad: Warning, wants: one("1", "2"),
		Means:  "Where large packets vanish and nobody says why, a connection tries smaller ones; without it, it stands still for good.",
		Source: "RFC 4821"},
	{ID: "tcp-idle-restart", Title: "A small window after a pause", Area: TCP, Key: "net.ipv4.tcp_slow_start_after_idle", bad: Warning, wants: one("0"),
		Means:   "With 1, a connection that has paused begins with a small window again, though the path is as it was.",
		Formula: "log2(rate × round trip / (10 × MSS)) round trips until it is as it was", Source: "RFC 2861; RFC 6928"},
	{ID: "tcp-ecn", Title: "Congestion told by marks", Area: TCP, Key: "net.ipv4.tcp_ecn", bad: Warning, wants: one("2", "1", "3", "4", "5"),
		Means: "A queue may mark packets instead of dropping them; with 0 this machine refuses that to all who ask.", Source: "RFC 3168"},
	{ID: "tcp-send-ahead", Title: "How far a program may write ahead", Area: TCP, Key: "net.ipv4.tcp_notsent_lowat", bad: Warning, wants: constant(128 << 10),
		Means: "How much a program may write ahead of what is sent; with little it must wake for every few packets.", Source: manualIP},
	{ID: "tcp-output-limit", Title: "What a connection may have below TCP", Area: TCP, Key: "net.ipv4.tcp_limit_output_bytes", bad: Warning, wants: least(outputLimit),
		Means:   "How much a connection may have in queue and adapter below TCP; with less than a millisecond's worth it waits for interrupts.",
		Formula: "rate × 1 ms, at most 4 MiB", Source: "Linux, net/ipv4/tcp_output.c tcp_small_queue_check"},
	{ID: "path-mtu-discovery", Title: "Finding how large packets may be", Area: TCP, Key: "net.ipv4.ip_no_pmtu_disc", bad: Warning, wants: one("0"),
		Means: "With anything but 0 this machine does not find out how large packets may be on a path.", Source: "RFC 1191"},
}

// constant is a number that must not be below another, whatever the rate and the round trip.
func constant(v float64) func(string, Need) (string, string) {
	return least(func(Need) float64 { return v })
}

// outputLimit is what a millisecond of the rate is. The kernel's own default, 4 MiB, is enough for all.
func outputLimit(n Need) float64 {
	const millisecond, bits, enough = 1e-3, 8, 4 << 20
	return min(n.Rate*millisecond/bits, enough)
}

// scaling is needed where more must be on its way than a header's field can say.
func scaling(value string, n Need) (needed, set string) {
	const unscaled = 65535 // the largest number of 16 bits (RFC 9293 section 3.1)
	if n.product() <= unscaled || value == "1" {
		return "1", ""
	}
	return "1", "1"
}

// modern are congestion controls that take a long fast path again in seconds.
var modern = []string{"cubic", "bbr", "bbr2", "bbr3", "htcp", "dctcp", "bic", "scalable", "highspeed", "illinois", "prague"}

func congestion(value string, _ Need) (needed, set string) {
	for _, name := range modern {
		if value == name {
			return "cubic or bbr", ""
		}
	}
	return "cubic or bbr", "cubic"
}
