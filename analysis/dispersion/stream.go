package dispersion

import "slices"

// Response is what became of a stream: how fast it was sent, and how much slower it arrived.
type Response struct {
	Rate    float64 // bit/s, at which it was sent
	Strain  float64 // by which share it arrived slower than it was sent; negative: a queue emptied meanwhile
	Lost    float64 // share of its packets
	Seconds float64
	Came    int // packets
}

// swallowed reports whether a stream lost so much that what others lost beside it matters.
func (r Response) swallowed() bool { return r.Lost > mostSwallowed }

const (
	mostSwallowed = 0.01 // of its packets
	leastStream   = 10   // packets that tell how a stream arrived
	streamEdge    = 0.1  // of a stream's packets, at each end, whose mean is when it began and ended
	stallSpaces   = 5    // spacings without a packet, after which a sender was off its processor
	stallLeast    = 1e-3 // s, of such a stall
)

// respond measures a stream over the longest part that its sender sent evenly. ok is false where too little arrived.
func respond(t Train) (r Response, ok bool) {
	packets := even(t)
	n := len(packets)
	if n < leastStream {
		return r, false
	}
	edge := max(1, int(streamEdge*float64(n)))
	first, last := centre(packets[:edge]), centre(packets[n-edge:])
	sent, at, count := last.sent-first.sent, last.at-first.at, last.index-first.index
	if sent <= 0 || at <= 0 || count <= 0 {
		return r, false
	}
	r.Seconds, r.Rate = sent, count*float64(t.Size)*8/sent
	out := float64(n-edge) * float64(t.Size) * 8 / at
	r.Strain, r.Lost = r.Rate/out-1, 1-float64(n-edge)/count
	r.Came = n
	return r, true
}

// sips are short streams at the rate of the link, pooled: its queue does not empty within one, whatever others send, and hardly fills. Some that lost a packet
// do not count.
func sips(trains []Train) (all []Response) {
	size := max(1, (len(trains)+sipPools-1)/sipPools)
	for pool := range slices.Chunk(trains, size) {
		var sent, at, count, came float64
		for _, t := range pool {
			packets := sorted(t)
			if n := len(packets); n >= 2 && packets[n-1].At > packets[0].At {
				sent += float64(packets[n-1].Sent-packets[0].Sent) / 1e9
				at += float64(packets[n-1].At-packets[0].At) / 1e9
				count, came = count+float64(packets[n-1].Index-packets[0].Index), came+float64(n-1)
			}
		}
		if sent > 0 && came > 0 {
			rate := count * float64(trains[0].Size) * 8 / sent
			all = append(all, Response{Rate: rate, Strain: at/sent*count/came - 1, Lost: 1 - came/count, Seconds: sent})
		}
	}
	return all
}

// sipPools are how many means are made of sips.
const sipPools = 10

type point struct{ index, sent, at float64 } // seconds

func centre(packets []Packet) (p point) {
	n := float64(len(packets))
	for _, k := range packets {
		p.index += float64(k.Index) / n
		p.sent += float64(k.Sent-packets[0].Sent) / 1e9 / n
		p.at += float64(k.At-packets[0].Sent) / 1e9 / n
	}
	base := float64(packets[0].Sent) / 1e9
	p.sent, p.at = p.sent+base, p.at+base
	return p
}

// even is the longest part of a stream in which its sender did not stop, in the order of sending.
func even(t Train) (longest []Packet) {
	packets := sorted(t)
	var spaces []float64
	for i := 1; i < len(packets); i++ {
		spaces = append(spaces, space(packets[i-1], packets[i]))
	}
	usual := median(spaces)
	begin := 0
	for i := 1; i <= len(packets); i++ {
		if i < len(packets) && float64(packets[i].Sent-packets[i-1].Sent)/1e9-usual*float64(packets[i].Index-packets[i-1].Index-1) < max(stallSpaces*usual, stallLeast) {
			continue
		}
		if i-begin > len(longest) {
			longest = packets[begin:i]
		}
		begin = i
	}
	return longest
}

// space is the time in seconds from one packet's sending to the next's.
func space(a, b Packet) float64 {
	return float64(b.Sent-a.Sent) / 1e9 / float64(max(1, b.Index-a.Index))
}
