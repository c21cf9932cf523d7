package main

import (
	"slices"
	"time"

	"github.com/pathwise-net/pathwise/measure"
)

// filter is a rule of the wall's for packets that it passes on.
func filter(rule string) kernelStep {
	return kernelStep{on: "wall", run: "nft add table ip f; nft 'add chain ip f c {type filter hook forward priority 0;}'; " +
		"nft 'add rule ip f c " + rule + "'"}
}

// shaped puts a token bucket filter before each way out of the wall.
func shaped(words string) kernelStep {
	return kernelStep{on: "wall", run: "for i in near far; do tc qdisc replace dev $i root " + words + "; done"}
}

// smallMiddle makes the wall pass on no packet larger than the strength, while the interfaces of both ends take 1500 bytes.
var smallMiddle = kernelStep{on: "wall", run: "ip route replace 203.0.113.0/24 dev far src " + kernelFar + " mtu lock @; " +
	"ip route replace 198.51.100.0/24 dev near src " + kernelNear + " mtu lock @"}

// speechless keeps the wall from telling that a packet is too large.
var speechless = kernelStep{on: "wall", run: "nft add table ip f; nft 'add chain ip f o {type filter hook output priority 0;}'; " +
	"nft add rule ip f o icmp type destination-unreachable drop"}

// plainServer is Debian's iperf3 in place of `pathwise respond`: it answers no trains and no transactions, so that less is known.
var plainServer = []string{"iperf3", "-s", "--forceflush"}

// iperf3Server listens on port 5301 of host b.
var iperf3Server = kernelStep{on: "b", run: "exec iperf3 -s -p 5301 --forceflush -I /mnt/reader", ready: "listening"}

// stopServer stops it, so that it neither reads nor takes connections.
var stopServer = kernelStep{on: "b", run: "kill -STOP $(tr -d '\\0' </mnt/reader)"}

// program is a transfer of iperf3's to that port, which goes on while the path is diagnosed; then other steps.
func program(flags string, then ...kernelStep) []kernelStep {
	client := kernelStep{on: "a", run: "exec iperf3 -c b -p 5301 -t 90 -C cubic --forceflush " + flags, ready: "connected"}
	return slices.Concat([]kernelStep{iperf3Server, client, {wait: time.Second}}, then)
}

// webServer is nginx on host a, port 8080, with a setting, and curl on host b, who loads a large file.
func webServer(setting, flags string) []kernelStep {
	return []kernelStep{
		{on: "a", run: "mkdir -p /mnt/web; truncate -s 4G /mnt/web/large; chmod 755 /mnt /mnt/web; " +
			"echo 'daemon off; worker_processes 1; pid /mnt/web.pid; error_log stderr notice; events {} " +
			"http { access_log off; server { listen 8080; root /mnt/web; " + setting + " } }' >/mnt/web.conf; " +
			"exec nginx -c /mnt/web.conf", ready: "start worker process "},
		{on: "b", run: "curl -s -o /dev/null " + flags + " http://a:8080/large & echo loading; wait", ready: "loading"},
		{wait: time.Second},
	}
}

// kernelPaths are held against what a diagnosis says of them.
var kernelPaths = []kernelPath{
	// Shapers, with which nothing is wrong as long as packets may wait.
	{name: "tbf", says: "20 Mbit/s by a token bucket filter, before which @ may wait, and no delay",
		strengths: []string{"100kb", "500kb"}, short: true, rate: "20mbit", queue: "@", near: true},
	{name: "tbf-far", says: "@ by a token bucket filter", strengths: []string{"50mbit", "20mbit"}, rate: "@"},
	{name: "tbf-large-bucket", says: "30 Mbit/s by a token bucket filter whose bucket holds @", strengths: []string{"100kb", "1mb"},
		rate: "30mbit", steps: []kernelStep{shaped("tbf rate 30mbit burst @ limit 400kb")}},
	{name: "htb", says: "@ by a class of a hierarchical token bucket with the kernel's own queue of packets, and no delay",
		strengths: []string{"30mbit", "80mbit"}, rate: "@", near: true,
		steps: []kernelStep{shaped("handle 1: htb default 1; tc class replace dev $i parent 1: classid 1:1 htb rate @")}},
	{name: "bare", says: "cables and a router, @: what limits them are the processors", strengths: []string{"as the kernel joins them"},
		rate: "none", near: true, offload: true},
	{name: "tbf-short-queue-near", says: "a queue of @, which is enough where there is no delay", strengths: []string{"15kb", "30kb"},
		queue: "@", near: true},
	{name: "tbf-short-queue", says: "a queue of @, and 40 ms", want: "shallow-buffer", strengths: []string{"15kb", "9kb"},
		queue: "@", delay: 20 * time.Millisecond},

	// Policers. The bucket of the kernel's packet filter holds a second of the rate, and the burst on top.
	{name: "nft-policer", says: "what comes faster than @ kB/s is dropped", want: "policer", strengths: []string{"1250", "2000"},
		steps: []kernelStep{filter("oifname far limit rate over @ kbytes/second burst 50 kbytes drop")}},
	{name: "nft-policer-back", says: "what comes faster than @ kB/s is dropped on its way back to host a", want: "policer",
		strengths: []string{"1250", "2000"}, steps: []kernelStep{filter("oifname near limit rate over @ kbytes/second burst 50 kbytes drop")}},
	{name: "nft-policer-near", says: "what comes faster than @ kB/s is dropped, and no delay", want: "policer", near: true,
		strengths: []string{"1250", "2000"}, steps: []kernelStep{filter("oifname far limit rate over @ kbytes/second burst 50 kbytes drop")}},
	{name: "nft-policer-iperf3", says: "what comes faster than @ kB/s is dropped on its way to an iperf3 server", want: "policer",
		strengths: []string{"1250", "2000"}, server: plainServer,
		steps: []kernelStep{filter("oifname far limit rate over @ kbytes/second burst 50 kbytes drop")}},

	// Packets dropped without regard to how many there are.
	{name: "nft-random", says: "@ of 1000 packets are dropped at random on their way to host b", want: "random-loss", short: true,
		strengths: []string{"10", "3"}, steps: []kernelStep{filter("oifname far numgen random mod 1000 < @ drop")}},
	{name: "nft-random-back", says: "@ of 1000 packets are dropped at random on their way back to host a", want: "random-loss",
		strengths: []string{"10", "3"}, steps: []kernelStep{filter("oifname near numgen random mod 1000 < @ drop")}},
	{name: "nft-random-both", says: "@ of 1000 packets are dropped at random each way", want: "random-loss",
		strengths: []string{"10", "3"}, steps: []kernelStep{filter("numgen random mod 1000 < @ drop")}},
	{name: "nft-random-iperf3", says: "@ of 1000 packets are dropped at random on their way to an iperf3 server", want: "random-loss",
		strengths: []string{"10", "3"}, server: plainServer, steps: []kernelStep{filter("oifname far numgen random mod 1000 < @ drop")}},
	{name: "nft-random-near", says: "@ of 1000 packets are dropped at random, too near to slow TCP down", strengths: []string{"3", "1"},
		most: measure.Warning, rate: "20mbit", near: true, steps: []kernelStep{filter("oifname far numgen random mod 1000 < @ drop")}},
	{name: "nft-runs", says: "eight packets in a row of each @ are dropped", want: "burst-loss", family: []string{"random-loss"},
		strengths: []string{"1000", "2000"}, steps: []kernelStep{filter("oifname far numgen inc mod @ < 8 drop")}},
	{name: "nft-first-packets", says: "@ of 100 first packets of connections are dropped at random", want: "transaction-loss",
		family: []string{"random-loss"}, strengths: []string{"40", "20"},
		steps: []kernelStep{filter("oifname far tcp flags & (syn|ack) == syn numgen random mod 100 < @ drop")}},
	{name: "nft-outage", says: "nothing passes for 1.5 s after each @ s", want: "outage", strengths: []string{"3", "4.5"},
		args: []string{"-t", "6"}, steps: []kernelStep{filter("accept"), {on: "wall", ready: "begins",
			run: "echo begins; while sleep @; do nft insert rule ip f c drop; sleep 1.5; nft flush chain ip f c; done"}}},

	// Sizes.
	{name: "mtu-silent", says: "no packet above @ bytes passes the wall, which says nothing", want: "pmtu-blackhole",
		strengths: []string{"1400", "1000"}, steps: []kernelStep{smallMiddle, speechless}},
	{name: "mtu-told", says: "no packet above @ bytes passes the wall, which says so", strengths: []string{"1400", "1300"},
		steps: []kernelStep{smallMiddle}},
	{name: "mtu-of-interface", says: "the interface of host b takes @ bytes at most, and the host promises 1500", want: "pmtu-blackhole",
		strengths: []string{"1400", "1300"},
		steps:     []kernelStep{{on: "b", run: "ip link set eth0 mtu @; ip route replace default via " + kernelFar + " advmss 1460"}}},
	{name: "mss-clamped", says: "the wall lowers the segment size of connections to @, and drops one packet in 200", want: "small-mss",
		family: []string{"random-loss"}, strengths: []string{"400", "536"},
		steps: []kernelStep{filter("tcp flags syn tcp option maxseg size set @"), filter("oifname far numgen random mod 200 < 1 drop")}},

	// Limited sockets.
	{name: "rmem", says: "tcp_rmem of host b ends at @", want: "receive-window-limited", strengths: []string{"32768", "65536"},
		short: true, sysctl: map[string]string{"b net.ipv4.tcp_rmem": "4096 32768 @"}},
	{name: "rmem-iperf3", says: "tcp_rmem of host b, an iperf3 server, ends at @", want: "receive-window-limited",
		strengths: []string{"32768", "65536"}, sysctl: map[string]string{"b net.ipv4.tcp_rmem": "4096 32768 @"},
		server: plainServer},
	{name: "wmem", says: "tcp_wmem of host a ends at @", want: "send-buffer-limited", strengths: []string{"32768", "65536"},
		sysctl: map[string]string{"a net.ipv4.tcp_wmem": "4096 16384 @"}},
	{name: "buffers-set", says: "both ends of the transfer set their buffers to @", want: "receive-buffer-fixed",
		family: []string{"send-buffer-fixed", "receive-window-limited", "send-buffer-limited"}, strengths: []string{"32k", "16k"},
		args: []string{"--window", "@"}},
	{name: "no-scaling", says: "host @ has window scaling off, and 40 ms", want: "no-window-scaling", strengths: []string{"b"},
		delay: 20 * time.Millisecond, sysctl: map[string]string{"b net.ipv4.tcp_window_scaling": "0"}},
	{name: "nft-no-scaling", says: "the wall takes the option @ out of first packets, and 40 ms", want: "middlebox", short: true,
		family: []string{"no-window-scaling"}, strengths: []string{"window"}, delay: 20 * time.Millisecond,
		steps: []kernelStep{filter("reset tcp option @")}},
	{name: "no-sack", says: "host b has selective acknowledgements off, @ may wait, and 40 ms", want: "no-sack",
		family: []string{"shallow-buffer"}, strengths: []string{"250kb", "120kb"}, queue: "@", delay: 20 * time.Millisecond,
		sysctl: map[string]string{"b net.ipv4.tcp_sack": "0"}},

	// Programs.
	{name: "stopped-reader", says: "the program that receives is @", want: "receiver-application-slow", strengths: []string{"stopped"},
		short: true, most: measure.Problem, args: []string{"--program", "5301"}, steps: program("", stopServer, kernelStep{wait: time.Second})},
	{name: "slow-reader", says: "curl reads @ bytes a second", want: "receiver-application-slow", strengths: []string{"1M", "400k"},
		args: []string{"--program", "8080"}, steps: webServer("", "--limit-rate @")},
	{name: "slow-writer", says: "nginx writes @ bytes a second", want: "application-limited", strengths: []string{"1m", "400k"},
		args: []string{"--program", "8080"}, steps: webServer("limit_rate @;", "")},
	{name: "held-writer", says: "iperf3 holds itself to @bit/s", want: "application-limited", strengths: []string{"5M", "15M"},
		args: []string{"--program", "5301"}, steps: program("-b @")},
	{name: "paced-writer", says: "iperf3 has the kernel pace it at @bit/s", want: "pacing-limited", strengths: []string{"5M", "15M"},
		args: []string{"--program", "5301"}, steps: program("--fq-rate @")},
	{name: "program-sets-buffers", says: "iperf3 sets the buffers of both ends to @", want: "receive-buffer-fixed",
		family: []string{"send-buffer-fixed"}, strengths: []string{"32K", "16K"}, args: []string{"--program", "5301"}, steps: program("-w @")},
	{name: "stopped-service", says: "a program takes no connections, and @ may wait for it", want: "accept-queue-full",
		strengths: []string{"1", "2"}, args: []string{"--service", "5301"}, sysctl: map[string]string{"b net.core.somaxconn": "@"},
		steps: []kernelStep{iperf3Server, stopServer}},

	// Boxes, and others.
	{name: "nft-remarks", says: "the wall sets marks to @ on a path that is well", named: "dscp-remarked",
		strengths: []string{"cs0", "cs1"}, most: measure.Warning, args: []string{"--dscp", "46"},
		steps: []kernelStep{filter("ip dscp set @")}},
	{name: "conntrack-forgets", says: "the wall forgets connections that are silent for @ s", want: "firewall-forgets",
		strengths: []string{"1"}, sysctl: map[string]string{"wall net.netfilter.nf_conntrack_tcp_timeout_established": "@",
			"wall net.netfilter.nf_conntrack_tcp_loose": "0"}, steps: []kernelStep{filter("ct state invalid drop")}},
	{name: "tbf-way-back", says: "the way back to host a carries @", want: "ack-path-congested", strengths: []string{"200kbit", "150kbit"},
		steps: []kernelStep{{on: "wall", run: "tc qdisc replace dev near root tbf rate @ burst 2kb limit 20kb"}}},
	{name: "others", says: "another program has @ transfers to host b", want: "cross-traffic", strengths: []string{"2", "4"},
		queue: "150kb", steps: program("-P @")},
}
