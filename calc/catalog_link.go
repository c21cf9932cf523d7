package calc

var (
	inputPacket   = Input{Name: "size", Kind: Size, Default: "1500", Usage: "size of a packet in bytes"}
	inputLink     = Input{Name: "rate", Kind: Rate, Usage: "rate of the link, such as 100mbit"}
	inputVelocity = Input{Name: "velocity", Kind: Ratio, Default: "66.7%",
		Usage: "of the signal, as a share of the speed of light: 66.7% fibre, 77% copper, 100% radio"}
)

func formulasOfLinks() []Formula {
	return []Formula{
		{
			Name: "serialize", Title: "How long a packet takes to be put on a link, and how long it is there",
			Source:   "PERT Performance Guides 2005, section 1.2.1.2; High Performance Data Transfer 2006, Packet Durations and Lengths",
			Examples: []string{"--rate 1gbit", "--rate 10mbit --size 64"},
			Inputs:   []Input{inputLink, inputPacket, inputVelocity},
			work:     workSerialize, draw: drawSerialize,
		}, {
			Name: "propagate", Title: "How long a signal is on its way, and how far a round trip can lead",
			Source:   "PERT Performance Guides 2005, section 1.2.1.1; High Performance Data Transfer 2006, Speed of Light in Media",
			Examples: []string{"--distance 4100km", "--distance 35786km --velocity 100%", "--distance 320km --rtt 19ms"},
			Inputs: []Input{{Name: "distance", Kind: Length, Usage: "length of the way, such as 1200km or 750mi"}, inputVelocity,
				{Name: "rtt", Kind: Time, Optional: true, Usage: "also the distance that this round trip would reach"}},
			work: workPropagate, draw: drawPropagate,
		}, {
			Name: "turns", Title: "How long an exchange takes in which a program waits for answers",
			Source:   "Network Application Performance 2012, Application Turns",
			Examples: []string{"--rtt 75ms --size 400kB --chunk 4kB", "--rtt 50ms --turns 12 --size 100kB --rate 100mbit"},
			Inputs: []Input{inputRTT,
				{Name: "turns", Kind: Count, Optional: true, Usage: "how often the program waits for an answer", unit: "_count"},
				{Name: "size", Kind: Size, Optional: true, Usage: "bytes that are moved in all"},
				{Name: "chunk", Kind: Size, Optional: true, Usage: "bytes after which it waits for an answer, instead of turns"},
				inputRate.maybe("of the path: also the time of the bytes themselves")},
			work: workTurns, draw: drawTurns,
		}, {
			Name: "wrap", Title: "How soon counters, sequence numbers and packet identifiers come round",
			Source:   "RFC 2863 section 3.1.6; RFC 7323 section 5.2; RFC 4963 section 2",
			Examples: []string{"--rate 1gbit", "--rate 10gbit --bits 64"},
			Inputs: []Input{inputLink,
				{Name: "bits", Kind: Choice, Default: "32", Choices: []string{"32", "64"}, Usage: "of a counter of bytes: 32 or 64", unit: "_count"},
				inputPacket},
			work: workWrap, draw: drawWrap,
		}, {
			Name: "ber", Title: "What share of packets bit errors damage, and what TCP holds then",
			Source:   "High Performance Data Transfer 2006, Concerns About Bit Errors; Mathis et al., 1997",
			Examples: []string{"--ber 1e-12 --links 10", "--ber 1e-10 --rate 1gbit --rtt 50ms"},
			Inputs: []Input{{Name: "ber", Kind: Ratio, Usage: "share of bits that arrive wrong, such as 1e-12"}, inputPacket,
				{Name: "links", Kind: Count, Default: "1", Usage: "links in a row with that share", unit: "_count"},
				inputRate.maybe("also how often a bit is wrong at this rate"),
				{Name: "rtt", Kind: Time, Optional: true, Usage: "also the rate that TCP holds over this round trip"}, inputMSS, inputC},
			work: workBER, draw: drawBER,
		}, {
			Name: "hstcp", Title: "The window that HighSpeed TCP holds at a loss ratio, beside Reno's",
			Source:   "RFC 3649 section 5",
			Examples: []string{"--rtt 100ms --loss 0.00001%", "--rtt 50ms --loss 0.1%"},
			Inputs:   []Input{inputMSS, inputRTT, {Name: "loss", Kind: Ratio, Usage: "share of packets lost, such as 0.001%"}},
			work:     workHighSpeed, draw: drawHighSpeed,
		},
	}
}
