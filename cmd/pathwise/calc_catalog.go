package main

import ()

// The inputs that several calculators share.
var (
	flagRate    = calcFlag{name: "rate", kind: inputRate, usage: "rate of the path, such as 100mbit"}
	flagRTT     = calcFlag{name: "rtt", kind: inputTime, usage: "round-trip time, such as 50ms"}
	flagMSS     = calcFlag{name: "mss", kind: inputSize, value: "1448", usage: "payload of a full packet in bytes"}
	flagC       = calcFlag{name: "c", kind: inputPlain, value: "0.7", usage: "the model's constant: 0.7 conservative, 1.0 CUBIC or Reno on Linux, 1.2247 evenly spaced losses"}
	flagInitial = calcFlag{name: "initial-window", kind: inputCount, value: "10", usage: "packets sent in the first round trip"}
	flagFraming = calcFlag{name: "framing", kind: inputExtra, value: "38", usage: "bytes around each IP packet on the link: 38 Ethernet, 42 with a VLAN tag, 0 where the rate counts IP packets"}
)

// maybe returns the flag as one that may be left out.
func (f calcFlag) maybe(usage string) calcFlag {
	f.value, f.optional, f.usage = "", true, usage
	return f
}

func calculators() []calculator {
	return []calculator{
		{
			name: "bdp", short: "Bandwidth-delay product: what must be in flight to fill the path",
			source:   "RFC 7323 section 1.1",
			examples: []string{"--rate 100mbit --rtt 50ms"},
			flags:    []calcFlag{flagRate, flagRTT},
			work:     calcBDP,
		}, {
			name: "window", short: "The rate that a window allows, and the window that a rate needs",
			source:   "RFC 7323 section 1.1",
			examples: []string{"--window 64K --rtt 50ms", "--window 4MiB --rtt 155ms --rate 570mbit"},
			flags:    []calcFlag{{name: "window", kind: inputSize, usage: "receive window or socket buffer, such as 4MiB"}, flagRTT, flagRate.maybe("also the window that this rate needs")},
			work:     calcWindow,
		}, {
			name: "mathis", short: "The rate that TCP holds at a loss ratio",
			source:   "Mathis, Semke, Mahdavi, Ott, The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, 1997",
			examples: []string{"--rtt 50ms --loss 0.01%", "--mss 8948 --rtt 72ms --loss 0.0064012%"},
			flags:    []calcFlag{flagMSS, flagRTT, {name: "loss", kind: inputRatio, usage: "share of packets lost, such as 0.01%"}, flagC},
			work:     calcMathis,
		}, {
			name: "lossbudget", short: "The most loss at which TCP still holds a rate",
			source:   "Mathis et al., 1997, solved for the loss; as NPAD reports it, 2008",
			examples: []string{"--rate 500mbit --rtt 76ms --mss 8948", "--rate 500mbit --rtt 76ms --mss 8948 --loss 0.000525%"},
			flags:    []calcFlag{flagRate, flagRTT, flagMSS, flagC, {name: "loss", kind: inputRatio, optional: true, usage: "also the longest round-trip time at this loss"}},
			work:     calcLossBudget,
		}, {
			name: "slowstart", short: "How long a connection takes to open its window, or to deliver a short transfer",
			source:   "RFC 5681 section 3.1, RFC 6928",
			examples: []string{"--rtt 50ms --rate 100mbit", "--rtt 50ms --window 4MiB", "--rtt 40ms --size 100kB"},
			flags: []calcFlag{flagRTT, flagRate.maybe("open the window to the bandwidth-delay product of this rate"),
				{name: "window", kind: inputSize, optional: true, usage: "open the window to this size"},
				{name: "size", kind: inputSize, optional: true, usage: "deliver this many bytes, no more than the window in a round trip"}, flagMSS, flagInitial},
			work: calcSlowStart,
		}, {
			name: "recovery", short: "How long a Reno connection takes to come back from one loss",
			source:   "RFC 5681 section 3.1",
			examples: []string{"--rate 1gbit --rtt 70ms --mss 1500", "--rate 100mbit --rtt 50ms"},
			flags:    []calcFlag{flagRate, flagRTT, flagMSS},
			work:     calcRecovery,
		}, {
			name: "overhead", short: "The share of a link that IP packets and TCP payload get",
			source:   "IEEE 802.3, RFC 791, RFC 8200, RFC 9293, RFC 7323 appendix A",
			examples: []string{"--rate 100mbit", "--mtu 9000 --ip 6 --framing 42"},
			flags: []calcFlag{{name: "mtu", kind: inputSize, value: "1500", usage: "size of a full IP packet in bytes"}, flagFraming,
				{name: "ip", kind: inputIPVersion, value: "4", usage: "IP version: 4 or 6"},
				{name: "tcp-options", kind: inputExtra, value: "12", usage: "bytes of TCP options in each packet: 12 timestamps, 0 none"},
				flagRate.maybe("also what is left of this link rate")},
			work: calcOverhead,
		}, {
			name: "transfer", short: "How long a transfer without loss takes: slow start, then the steady rate",
			source:   "RFC 5681 section 3.1, RFC 7323 section 1.1, model.TransferTime",
			examples: []string{"--size 50MB --rate 100mbit --rtt 50ms", "--size 50MB --rate 100mbit --rtt 50ms --window 87380"},
			flags: []calcFlag{{name: "size", kind: inputSize, usage: "bytes to move, such as 50MB"},
				{name: "rate", kind: inputRate, usage: "rate of the narrowest link, such as 100mbit"}, flagRTT, flagMSS, flagFraming,
				{name: "window", kind: inputSize, optional: true, usage: "receive window or socket buffer; unlimited when left out"}, flagInitial},
			work: calcTransfer,
		},
	}
}
