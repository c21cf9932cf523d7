package host

const (
	linuxReceiveShare = "RFC 7323 section 1.1; Linux shows half of a receive buffer as window (tcp_adv_win_scale)"
	manualIP          = "Linux, Documentation/networking/ip-sysctl.rst"
)

// twiceProduct is what a buffer needs: Linux counts its bookkeeping against it as well, and shows half of it as window.
func twiceProduct(n Need) float64 { return 2 * n.product() }

var tcpItems = []Item{
	{ID: "tcp-rmem", Area: TCP, Key: "net.ipv4.tcp_rmem", bad: Problem, wants: thirdLeast(twiceProduct),
		Means:   "The third number is the largest buffer that the kernel gives to a connection that receives; its half is the largest window.",
		Formula: "2 × rate × round trip", Source: linuxReceiveShare},
	{ID: "tcp-wmem", Area: TCP, Key: "net.ipv4.tcp_wmem", bad: Problem, wants: thirdLeast(twiceProduct),
		Means:   "The third number is the largest buffer that the kernel gives to a connection that sends: what is on its way must stay in it.",
		Formula: "2 × rate × round trip", Source: "RFC 7323 section 1.1; bookkeeping takes up to half of a send buffer"},
	{ID: "tcp-autotuning", Area: TCP, Key: "net.ipv4.tcp_moderate_rcvbuf", bad: Problem, wants: one("1"),
		Means:  "The kernel lets receive buffers grow with the path; without it each stays at the second number of tcp_rmem.",
		Source: manualIP},
	{ID: "tcp-window-scaling", Area: TCP, Key: "net.ipv4.tcp_window_scaling", bad: Problem, wants: scaling,
		Means:   "Without the option no window is larger than 65,535 bytes.",
		Formula: "1 where rate × round trip > 65535 bytes", Source: "RFC 7323 section 2"},
	{ID: "tcp-sack", Area: TCP, Key: "net.ipv4.tcp_sack", bad: Problem, wants: one("1"),
		Means: "Selective acknowledgements tell the sender what is missing; without them it repairs one loss each round trip.", Source: "RFC 2018"},
	{ID: "tcp-dsack", Area: TCP, Key: "net.ipv4.tcp_dsack", bad: Warning, wants: one("1"),
		Means: "The receiver tells of packets that came twice, so that the sender sees that it was wrong to slow down.", Source: "RFC 2883, RFC 3708"},
	{ID: "tcp-timestamps", Area: TCP, Key: "net.ipv4.tcp_timestamps", bad: Warning, wants: one("1", "2"),
		Means:  "Time stamps give a round trip for each packet, and keep old packets apart when sequence numbers come round, after 34 s at 1 Gbit/s.",
		Source: "RFC 7323 sections 4 and 5"},
	{ID: "tcp-congestion-control", Area: TCP, Key: "net.ipv4.tcp_congestion_control", bad: Warning, wants: congestion,
		Means:   "How fast a connection takes the path again after a loss. Reno adds a packet each round trip, which takes minutes on a long fast path.",
		Formula: "recovery of half a window: rate × round trip² / (2 × 8 × MSS)", Source: "RFC 9438; RFC 5681"},
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
var modern = []string{"cubic", "bbr", "bbr3", "htcp", "dctcp", "bic", "scalable", "highspeed", "illinois", "prague"}

func congestion(value string, _ Need) (needed, set string) {
	for _, name := range modern {
		if value == name {
			return "cubic or bbr", ""
		}
	}
	return "cubic or bbr", "cubic"
}
