package calc

import "slices"

// The inputs that several formulas share.
var (
	inputRate = Input{Name: "rate", Kind: Rate, Usage: "rate of the path, such as 100mbit"}
	inputRTT  = Input{Name: "rtt", Kind: Time, Usage: "round-trip time, such as 50ms"}
	inputMSS  = Input{Name: "mss", Kind: Size, Default: "1448", Usage: "payload of a full packet in bytes"}
	inputC    = Input{Name: "c", Kind: Number, Default: "0.7",
		Usage: "the model's constant: 0.7 conservative, 1.0 CUBIC or Reno on Linux, 1.2247 evenly spaced losses"}
	inputInitial = Input{Name: "initial-window", Kind: Count, Default: "10", Usage: "packets sent in the first round trip"}
	inputFraming = Input{Name: "framing", Kind: Size, Default: "38", zero: true,
		Usage: "bytes around each IP packet on the link: 38 Ethernet, 42 with a VLAN tag, 0 where the rate counts IP packets"}
)

// maybe is the input as one that may be left out.
func (i Input) maybe(usage string) Input {
	i.Default, i.Optional, i.Usage = "", true, usage
	return i
}

// All returns every formula.
func All() []Formula { return slices.Concat(formulasOfTCP(), formulasOfLinks()) }

func formulasOfTCP() []Formula {
	return []Formula{
		{
			Name: "bdp", Title: "Bandwidth-delay product: what must be in flight to fill the path",
			Source:   "RFC 7323 section 1.1",
			Examples: []string{"--rate 100mbit --rtt 50ms"},
			Inputs:   []Input{inputRate, inputRTT},
			work:     workBDP, draw: drawBDP,
		}, {
			Name: "window", Title: "The rate that a window allows, and the window that a rate needs",
			Source:   "RFC 7323 section 1.1",
			Examples: []string{"--window 64K --rtt 50ms", "--window 4MiB --rtt 155ms --rate 570mbit"},
			Inputs: []Input{{Name: "window", Kind: Size, Usage: "receive window or socket buffer, such as 4MiB"}, inputRTT,
				inputRate.maybe("also the window that this rate needs")},
			work: workWindow, draw: drawWindow,
		}, {
			Name: "mathis", Title: "The rate that TCP holds at a loss ratio",
			Source:   "Mathis, Semke, Mahdavi, Ott, The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, 1997",
			Examples: []string{"--rtt 50ms --loss 0.01%", "--mss 8948 --rtt 72ms --loss 0.0064012%"},
			Inputs:   []Input{inputMSS, inputRTT, {Name: "loss", Kind: Ratio, Usage: "share of packets lost, such as 0.01%"}, inputC},
			work:     workMathis, draw: drawMathis,
		}, {
			Name: "padhye", Title: "The rate that TCP holds at a loss ratio, time-outs included",
			Source:   "Padhye, Firoiu, Towsley, Kurose, Modeling TCP Throughput, 1998, formula 30",
			Examples: []string{"--rtt 30ms --loss 2%", "--rtt 200ms --loss 5% --mss 1208"},
			Inputs:   []Input{inputMSS, inputRTT, {Name: "loss", Kind: Ratio, Usage: "share of packets lost, such as 2%"}},
			work:     workPadhye, draw: drawPadhye,
		}, {
			Name: "lossbudget", Title: "The most loss at which TCP still holds a rate",
			Source:   "Mathis et al., 1997, solved for the loss; as NPAD reports it, 2008",
			Examples: []string{"--rate 500mbit --rtt 76ms --mss 8948", "--rate 500mbit --rtt 76ms --mss 8948 --loss 0.000525%"},
			Inputs: []Input{inputRate, inputRTT, inputMSS, inputC,
				{Name: "loss", Kind: Ratio, Optional: true, Usage: "also the longest round-trip time at this loss"}},
			work: workLossBudget, draw: drawLossBudget,
		}, {
			Name: "slowstart", Title: "How long a connection takes to open its window, or to deliver a short transfer",
			Source:   "RFC 5681 section 3.1, RFC 6928",
			Examples: []string{"--rtt 50ms --rate 100mbit", "--rtt 50ms --window 4MiB", "--rtt 40ms --size 100kB"},
			Inputs: []Input{inputRTT, inputRate.maybe("open the window to the bandwidth-delay product of this rate"),
				{Name: "window", Kind: Size, Optional: true, Usage: "open the window to this size"},
				{Name: "size", Kind: Size, Optional: true, Usage: "deliver this many bytes, no more than the window in a round trip"},
				inputMSS, inputInitial},
			work: workSlowStart, draw: drawSlowStart,
		}, {
			Name: "recovery", Title: "How long a Reno connection takes to come back from one loss",
			Source:   "RFC 5681 section 3.1",
			Examples: []string{"--rate 1gbit --rtt 70ms --mss 1500", "--rate 100mbit --rtt 50ms"},
			Inputs:   []Input{inputRate, inputRTT, inputMSS},
			work:     workRecovery, draw: drawRecovery,
		}, {
			Name: "overhead", Title: "The share of a link that IP packets and TCP payload get",
			Source:   "IEEE 802.3, RFC 791, RFC 8200, RFC 9293, RFC 7323 appendix A",
			Examples: []string{"--rate 100mbit", "--mtu 9000 --ip 6 --framing 42"},
			Inputs: []Input{{Name: "mtu", Kind: Size, Default: "1500", Usage: "size of a full IP packet in bytes"}, inputFraming,
				{Name: "ip", Kind: Choice, Default: "4", Choices: []string{"4", "6"}, Usage: "IP version: 4 or 6"},
				{Name: "tcp-options", Kind: Size, Default: "12", zero: true, Usage: "bytes of TCP options in each packet: 12 timestamps, 0 none"},
				inputRate.maybe("also what is left of this link rate")},
			work: workOverhead, draw: drawOverhead,
		}, {
			Name: "transfer", Title: "How long a transfer without loss takes: slow start, then the steady rate",
			Source:   "RFC 5681 section 3.1, RFC 7323 section 1.1, model.TransferTime",
			Examples: []string{"--size 50MB --rate 100mbit --rtt 50ms", "--size 50MB --rate 100mbit --rtt 50ms --window 87380"},
			Inputs: []Input{{Name: "size", Kind: Size, Usage: "bytes to move, such as 50MB"},
				{Name: "rate", Kind: Rate, Usage: "rate of the narrowest link, such as 100mbit"}, inputRTT, inputMSS, inputFraming,
				{Name: "window", Kind: Size, Optional: true, Usage: "receive window or socket buffer; unlimited when left out"}, inputInitial},
			work: workTransfer, draw: drawTransfer,
		},
	}
}
