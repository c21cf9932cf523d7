package calc

import (
	"math"

	"github.com/pathwise-net/pathwise/model"
)

// decade is by how much a drawing with axes of factors goes beyond what was asked for, either way.
const decade = 10

func drawBDP(in values) []Drawing {
	rtt := in.value["rtt"]
	d := Drawing{Title: "What must be in flight", X: Axis{Label: "round trip", Unit: seconds}, Y: Axis{Label: "in flight", Unit: bytes}}
	d.add("at "+in.text["rate"], 0, 2*rtt, func(x float64) float64 { return model.BandwidthDelay(in.value["rate"], model.Seconds(x)) })
	d.Mark = Point{rtt, model.BandwidthDelay(in.value["rate"], in.duration("rtt"))}
	return []Drawing{d}
}

func drawWindow(in values) []Drawing {
	window, rtt := in.value["window"], in.value["rtt"]
	d := Drawing{Title: "What the window allows", X: Axis{"round trip", seconds, true}, Y: Axis{"rate", rate, true}}
	d.add("a window of "+in.text["window"], rtt/decade, rtt*decade,
		func(x float64) float64 { return model.WindowLimit(window, model.Seconds(x)) })
	if wanted := in.value["rate"]; wanted > 0 {
		d.level("the rate that is wanted", rtt/decade, rtt*decade, wanted)
	}
	d.Mark = Point{rtt, model.WindowLimit(window, in.duration("rtt"))}
	return []Drawing{d}
}

func drawMathis(in values) []Drawing {
	loss := in.value["loss"]
	d := Drawing{Title: "What loss allows", X: Axis{"loss", ratio, true}, Y: Axis{"rate", rate, true}}
	at := func(p float64) float64 { return model.Mathis(in.value["mss"], in.duration("rtt"), p, in.value["c"]) }
	d.add("over "+in.text["rtt"], loss/decade/decade, min(1, loss*decade*decade), at)
	d.Mark = Point{loss, at(loss)}
	return []Drawing{d}
}

func drawPadhye(in values) []Drawing {
	loss := in.value["loss"]
	d := Drawing{Title: "What loss allows", X: Axis{"loss", ratio, true}, Y: Axis{"rate", rate, true}}
	at := func(p float64) float64 { return model.Padhye(in.value["mss"], in.duration("rtt"), p) }
	halving := func(p float64) float64 { return model.Mathis(in.value["mss"], in.duration("rtt"), p, model.CPeriodic) }
	from, to := loss/decade/decade, min(1, loss*decade*decade)
	d.add("over "+in.text["rtt"], from, to, at)
	d.add("without time-outs", from, to, halving)
	d.Mark = Point{loss, at(loss)}
	return []Drawing{d}
}

func drawLossBudget(in values) []Drawing {
	rtt := in.value["rtt"]
	d := Drawing{Title: "How much loss the rate bears", X: Axis{"round trip", seconds, true}, Y: Axis{"loss budget", ratio, true}}
	at := func(x float64) float64 {
		return model.LossBudget(in.value["rate"], model.Seconds(x), in.value["mss"], in.value["c"]).LossRatio
	}
	d.add("at "+in.text["rate"], rtt/decade, rtt*decade, at)
	if loss := in.value["loss"]; loss > 0 {
		d.level("the loss that there is", rtt/decade, rtt*decade, loss)
	}
	d.Mark = Point{rtt, at(rtt)}
	return []Drawing{d}
}

// mostRounds is how many round trips a drawing of slow start has at the most: beyond, it is a straight line.
const mostRounds = 80

func drawSlowStart(in values) []Drawing {
	start := model.SlowStart{MSS: in.value["mss"], Initial: in.value["initial-window"]}
	limit, size := slowStartWindow(in), in.value["size"]
	d := Drawing{Title: "How the window opens", X: Axis{Label: "round trips"}, Y: Axis{Label: "bytes", Unit: bytes}}
	last := 0.0
	if limit > 0 {
		reach, _ := start.ToWindow(limit)
		last, d.Mark = float64(reach)+2, Point{float64(reach), limit} // two more, to see that it stays
	}
	if deliver := start.ToDeliver(size, limit); size > 0 && deliver <= mostRounds {
		last, d.Mark = max(last, deliver), Point{deliver, size}
	}
	window, sent := Series{Label: "window"}, Series{Label: "delivered so far"}
	next, so := start.Initial*start.MSS, 0.0
	for round := 0.0; round <= min(last, mostRounds); round++ {
		if limit > 0 {
			next = min(next, limit)
		}
		window.Points = append(window.Points, Point{round, next})
		sent.Points = append(sent.Points, Point{round, min(so, size)})
		so += next
		next *= 2
	}
	d.join(window)
	if size > 0 {
		d.join(sent)
	}
	return []Drawing{d}
}

// drawRecovery draws two teeth of Reno's saw: a loss whenever the window is full.
func drawRecovery(in values) []Drawing {
	r := model.RecoveryTime(in.value["rate"], in.duration("rtt"), in.value["mss"])
	if r.Rounds == 0 { // not one packet fits
		return []Drawing{}
	}
	t := r.Time.Seconds()
	d := Drawing{Title: "The window after a loss", X: Axis{Label: "time since the loss", Unit: seconds},
		Y:    Axis{Label: "window", Unit: packets},
		Mark: Point{t, r.FullPackets}}
	half := (r.FullPackets + r.HalvedPackets) / 2
	d.join(Series{"window", []Point{
		{-t / 2, half}, {0, r.FullPackets}, {0, r.HalvedPackets}, {t, r.FullPackets}, {t, r.HalvedPackets}, {2 * t, r.FullPackets}}})
	d.level("what fills the path", -t/2, 2*t, r.FullPackets)
	return []Drawing{d}
}

// jumbo is the largest packet that Ethernet adapters commonly take.
const jumbo = 9000

func drawOverhead(in values) []Drawing {
	asked, _ := overheadOf(in)
	of := func(mtu float64) model.Overhead {
		return model.Overhead{MTU: mtu, Framing: asked.Framing, Headers: asked.Headers}
	}
	d := Drawing{Title: "What headers leave", X: Axis{Label: "packet", Unit: bytes}, Y: Axis{Label: "share of the link", Unit: ratio},
		Mark: Point{asked.MTU, asked.PayloadShare()}}
	to := math.Max(jumbo, asked.MTU)
	d.add("TCP payload", asked.Headers, to, func(x float64) float64 { return of(x).PayloadShare() })
	d.add("IP packets", asked.Headers, to, func(x float64) float64 { return of(x).IPShare() })
	return []Drawing{d}
}

func drawTransfer(in values) []Drawing {
	t := transferOf(in)
	p := model.TransferTime(t)
	rtt, total := t.RTT.Seconds(), p.Total.Seconds()
	d := Drawing{Title: "What has been sent by then", X: Axis{Label: "time", Unit: seconds}, Y: Axis{Label: "bytes", Unit: bytes},
		Mark: Point{total, t.Bytes}}
	s := Series{Label: "slow start, steady rate, last acknowledgement"}
	first := t.SlowStart.Initial * t.SlowStart.MSS
	for round := range p.Rounds + 1 {
		s.Points = append(s.Points, Point{float64(round) * rtt, first * (math.Exp2(float64(round)) - 1)})
	}
	steady := p.SlowStart.Seconds() + p.Steady.Seconds()
	s.Points = append(s.Points, Point{steady, p.SlowStartBytes + p.SteadyBytes}, Point{max(steady, total-rtt), t.Bytes}, Point{total, t.Bytes})
	d.join(s)
	d.join(Series{"at the payload rate from the first byte on", []Point{{0, 0}, {t.Bytes * 8 / t.Rate, t.Bytes}}})
	return []Drawing{d}
}

// Drawing shows an answer among its neighbours: how one value goes with another, all else as it was asked for.
type Drawing struct {
	Title  string   `json:"title"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Series []Series `json:"series"`
	Mark   Point    `json:"mark" doc:"What was asked for"`
}

// Axis says what one direction of a drawing means.
type Axis struct {
	Label string `json:"label"`
	Unit  string `json:"unit" doc:"Of SI, as in the names of metrics; empty for a number of round trips"`
	Log   bool   `json:"log" doc:"Equal steps are equal factors"`
}

// Series is one line of a drawing.
type Series struct {
	Label  string  `json:"label"`
	Points []Point `json:"points" doc:"By rising x, to be joined by straight lines"`
}

// Point is x and y.
type Point [2]float64

// samples is how many points a curve has: more than a screen shows as corners, and few enough to send while one types.
const samples = 121

// add puts a curve into the drawing: f at points from and to and between them, evenly as the x axis goes. Where f or the axes
// have no value, there is no point.
func (d *Drawing) add(label string, from, to float64, f func(x float64) float64) {
	s := Series{Label: label, Points: []Point{}}
	for i := range samples {
		share := float64(i) / (samples - 1)
		x := from + share*(to-from)
		if d.X.Log {
			x = from * math.Pow(to/from, share)
		}
		if i == samples-1 {
			x = to // not beyond it by rounding
		}
		s.Points = append(s.Points, Point{x, f(x)})
	}
	d.join(s)
}

// level puts a line across the drawing.
func (d *Drawing) level(label string, from, to, y float64) {
	d.join(Series{Label: label, Points: []Point{{from, y}, {to, y}}})
}

func (d *Drawing) join(s Series) {
	kept := []Point{}
	for _, p := range s.Points {
		if there(p[0], d.X) && there(p[1], d.Y) {
			kept = append(kept, p)
		}
	}
	s.Points = kept
	d.Series = append(d.Series, s)
}

func there(v float64, a Axis) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !a.Log) }
