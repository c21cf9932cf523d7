package stat

import "math"

// Codec is how a way to code speech bears loss, for the E-model.
type Codec struct {
	Ie  float64 // equipment impairment without loss
	Bpl float64 // packet-loss robustness
}

// Codecs of ITU-T G.113 appendix I, by what is said of them.
var (
	G711   = Codec{0, 25.1}  // G.711, whose receiver conceals losses
	G729A  = Codec{11, 19}   // G.729A with silence left out
	G7231  = Codec{15, 16.1} // G.723.1 at 6.3 kbit/s
	GSMEFR = Codec{5, 10}    // GSM's enhanced full rate
)

// R returns the transmission rating of the E-model (ITU-T G.107, 2015) of speech whose one-way delay from mouth to ear is this many seconds, of
// which packets are lost by this ratio, in bursts by BurstRatio; all else is at its default (table 2). 93.2 is the best; below 50 nobody
// wants to speak.
//
//	R = Ro - Is - Idte - Idle - Idd - Ie,eff
//
// Ro - Is, which have to do with noise and loudness, come to 93.36 by default. Idte and Idle are what echoes annoy the more the later they come,
// Idd what the delay alone does to a conversation, Ie,eff what the codec and losses do to the sound. The recommendation's T, Ta and Tr
// are the delay, the delay and twice the delay, as on a path that is alike both ways.
func R(delay, loss, burst float64, c Codec) float64 {
	const ro, is = 94.7688, 1.4136 // of the defaults; TestRating makes them of the loudness and noise that they stand for
	ms := max(0, delay*1000)
	return ro - is - talkerEcho(ro, ms) - listenerEcho(ro, ms) - absoluteDelay(ms) - equipment(loss, burst, c)
}

// talkerEcho is Idte of an echo that is 65 dB quieter (TELR), with a sidetone of 15 dB (STMR), so that no correction for it applies: that begins
// below 9 and above 20 dB. It begins from Roe, which equals Ro where SLR - RLR is 6 dB, as by default.
func talkerEcho(ro, ms float64) float64 {
	const telr = 65
	terv := telr - 40*math.Log10((1+ms/10)/(1+ms/150)) + 6*math.Exp(-0.3*ms*ms)
	re := 80 + 2.5*(terv-14)
	half := (ro - re) / 2
	return (half + math.Sqrt(half*half+100) - 1) * (1 - math.Exp(-ms))
}

// listenerEcho is Idle of an echo path with a weighted loss of 110 dB (WEPL), and a round trip of twice the delay.
func listenerEcho(ro, ms float64) float64 {
	const wepl = 110
	rle := 10.5 * (wepl + 7) * math.Pow(2*ms+1, -0.25)
	half := (ro - rle) / 2
	return half + math.Sqrt(half*half+169)
}

// absoluteDelay is Idd of people who talk as usual (delay sensitivity sT of 1), who notice delays above 100 ms (mT).
func absoluteDelay(ms float64) float64 {
	if ms <= 100 {
		return 0
	}
	x := math.Log2(ms / 100)
	return 25 * (math.Pow(1+math.Pow(x, 6), 1./6) - 3*math.Pow(1+math.Pow(x/3, 6), 1./6) + 2)
}

// equipment is Ie,eff.
func equipment(loss, burst float64, c Codec) float64 {
	percent := 100 * min(max(loss, 0), 1)
	return c.Ie + (95-c.Ie)*percent/(percent/max(1, burst)+c.Bpl)
}

// MOS returns the mean opinion score, 1 (bad) to 4.5 (excellent), that people would give speech of a rating (ITU-T G.107 annex B). The
// polynomial dips below 1, by up to 0.013, for ratings below 6.5; there it stays at 1.
func MOS(r float64) float64 {
	r = min(max(r, 0), 100)
	return max(1, 1+0.035*r+r*(r-60)*(100-r)*7e-6)
}

// Speech is how well people could talk over a path.
type Speech struct {
	R, MOS float64 // R on the scale of the recommendation, which ends at 0, however much delay and loss add up to
	// Delay is what was reckoned from mouth to ear, in seconds: the way, the playout buffer, and SpeechCoding.
	Delay float64
}

// SpeechCoding, in seconds, is how long a packet of speech is filled, and the codec looks ahead: 20 ms, as telephones over IP send, and 5.
const SpeechCoding = 0.025

// SpeechOver returns how well people could talk by G.711 with concealment over a path with this least delay in seconds and this variation, whose
// packets were lost as lost says. Packets that would come too late for the playout buffer are as good as lost: by its definition 1 of 1000.
func SpeechOver(least float64, v Variation, lost []bool) Speech {
	runs := 0
	for _, n := range LossRuns(lost) {
		runs += n
	}
	loss := float64(runs) / float64(max(1, len(lost)))
	s := Speech{Delay: max(0, least) + v.Buffer + SpeechCoding}
	s.R = max(0, R(s.Delay, loss, BurstRatio(lost), G711))
	s.MOS = MOS(s.R)
	return s
}
