package knowledge

import (
	"time"

	"github.com/pathwise-net/pathwise/calc"
	"github.com/pathwise-net/pathwise/model"
)

// The units of axes.
const (
	seconds = "seconds"
	bytes   = "bytes"
	packets = "packets"
	ratio   = "ratio"
)

// curve is a line through steps+1 points of a function, from one x to another.
func curve(label string, from, to float64, steps int, f func(x float64) float64) calc.Series {
	s := calc.Series{Label: label}
	for i := range steps + 1 {
		x := from + (to-from)*float64(i)/float64(steps)
		s.Points = append(s.Points, calc.Point{x, f(x)})
	}
	return s
}

// firstOf is the first of some drawings with what an entry says of it; the tests see to it that there is one.
func firstOf(drawings []calc.Drawing, marked, text string) Picture {
	p := Picture{Marked: marked, Text: text}
	if len(drawings) > 0 {
		p.Drawing = drawings[0]
	}
	return p
}

func drawSlowStart() Picture {
	return firstOf(drawn("slowstart", map[string]string{"rtt": "50ms", "rate": "100mbit"}), "the path is full",
		"A path of 100 Mbit/s and 50 ms. Ten packets leave in the first round trip and twice as many in each that follows; in the sixth, "+
			"300 ms after the start, the window fills the path.")
}

func drawWindow() Picture {
	return firstOf(drawn("window", map[string]string{"window": "64KiB", "rtt": "50ms", "rate": "100mbit"}), "over 50 ms",
		"A window of 64 KiB, on a path of 100 Mbit/s. Up to 5 ms of round trip it fills the path; over 50 ms it carries 10.5 Mbit/s, and "+
			"half of that over twice the distance.")
}

func drawMathis() Picture {
	return firstOf(drawn("mathis", map[string]string{"rtt": "50ms", "loss": "0.01%"}), "one packet in 10,000 lost",
		"TCP over 50 ms in packets of 1500 bytes. Four times the loss halves the rate.")
}

// The path of the picture of congestion avoidance: 1 Gbit/s over 70 ms in packets of 1500 bytes.
const (
	avoidanceFull = 5833.0 // packets
	avoidanceRTT  = 70 * time.Millisecond
)

// drawAvoidance draws how Reno and CUBIC come back from a loss, each until it fills the path again.
func drawAvoidance() Picture {
	back := avoidanceFull / 2 * avoidanceRTT.Seconds()
	level := func(f func(float64, time.Duration, time.Duration) float64) func(float64) float64 {
		return func(x float64) float64 { return min(avoidanceFull, f(avoidanceFull, model.Seconds(x), avoidanceRTT)) }
	}
	cubic := curve("CUBIC", 0, 20, 38, level(model.CubicAfterLoss)) // it is back by then
	cubic.Points = append(cubic.Points, calc.Point{back, avoidanceFull})
	return Picture{calc.Drawing{Title: "The window after a loss", X: calc.Axis{Label: "time since the loss", Unit: seconds},
		Y: calc.Axis{Label: "window", Unit: packets}, Mark: calc.Point{back, avoidanceFull},
		Series: []calc.Series{curve("Reno", 0, back, 20, level(model.RenoAfterLoss)), cubic}},
		"Reno fills the path again",
		"A path of 1 Gbit/s and 70 ms after one loss. Reno falls to half and needs 3.4 minutes to come back; CUBIC falls to seven tenths " +
			"and is back after 16 seconds."}
}

// The exchange of the picture of Nagle's algorithm: that of the lab's fault nagle-delayed-ack.
const (
	heldRTT   = 10 * time.Millisecond
	heldDelay = 40 * time.Millisecond // how long Linux delays an acknowledgement
)

// drawNagle draws a request of two small writes and its answer, going to and fro between both ends.
func drawNagle() Picture {
	half, held := heldRTT.Seconds()/2, model.HeldRequestTime(heldRTT, heldDelay).Seconds()
	ack := half + heldDelay.Seconds()
	return Picture{calc.Drawing{Title: "A request of two writes", X: calc.Axis{Label: "time", Unit: seconds},
		Y: calc.Axis{Label: "0: client, 1: server"}, Mark: calc.Point{held, 0},
		Series: []calc.Series{
			{Label: "Nagle and delayed ACK", Points: []calc.Point{{0, 0}, {half, 1}, {ack, 1}, {ack + half, 0}, {held - half, 1}, {held, 0}}},
			{Label: "TCP_NODELAY", Points: []calc.Point{{0, 0}, {half, 1}, {2 * half, 0}}},
		}}, "the answer",
		"A round trip of 10 ms. The first write goes to the server, which waits 40 ms before it acknowledges it; only then the second goes, " +
			"and the answer comes after 60 ms. With TCP_NODELAY both go at once, and it comes after 10."}
}

// The losses of the picture of repairs: so many packets of a window.
const (
	mendLost   = 10
	mendWindow = 100
)

func drawMending() Picture {
	open := func(selective bool) func(float64) float64 {
		return func(x float64) float64 { return model.LossesOpen(mendLost, mendWindow, int(x), selective) }
	}
	return Picture{calc.Drawing{Title: "Lost packets that are not mended yet", X: calc.Axis{Label: "round trips since it was noticed"},
		Y: calc.Axis{Label: "missing", Unit: packets}, Mark: calc.Point{mendLost, 0},
		Series: []calc.Series{curve("without SACK", 0, mendLost, mendLost, open(false)), curve("with SACK", 0, mendLost, mendLost, open(true))}},
		"all mended without SACK",
		"Ten packets of a window of 100 were lost. Without selective acknowledgements the sender learns of one gap each round trip; " +
			"with them it knows all, and repeats them in one."}
}
