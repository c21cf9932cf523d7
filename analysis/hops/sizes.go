package hops

// What sizes packets have, in bytes at the IP layer.
const (
	leastSize = 64
	// Routers quote as much of an expired packet as fits in 576 bytes (RFC 1812 section 4.3.2.3) or 1280 (RFC 4443 section 2.4), so that the answers to all
	// packets that are larger than that are alike. Many quote less. Until a hop has shown what it does, the most is taken.
	mostQuoted4 = 576 - ipHeader4 - icmpHeader
	mostQuoted6 = 1280 - ipHeader6 - icmpHeader
)

// Headers in bytes: of IPv4 and IPv6, of ICMP, and of TCP, which is all that an answer to a SYN has.
const (
	ipHeader4  = 20
	ipHeader6  = 40
	icmpHeader = 8
	tcpHeader  = 20
)

// sizes of the packets to a hop: the ends tell the slope, and one in the middle whether there is one.
type sizes struct{ least, middle, most int }

func sizesOf(quoted, most int) sizes {
	least := min(max(leastSize, quoted), most)
	return sizes{least, (least + most) / 2, most}
}

// all are those of one turn: the ends twice as often as the middle.
func (s sizes) all() []int { return []int{s.least, s.most, s.middle, s.least, s.most} }

func (s sizes) span() float64 { return float64(s.most - s.least) }
