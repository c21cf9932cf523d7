package calc

import (
	"math"

	"github.com/pathwise-net/pathwise/model"
)

func drawSerialize(in values) []Drawing {
	size, asked := in.value["size"], in.value["rate"]
	d := Drawing{Title: "How long the packet takes", X: Axis{"rate", rate, true}, Y: Axis{"time", seconds, true}}
	at := func(x float64) float64 { return size * 8 / x }
	d.add(in.text["size"], asked/decade, asked*decade, at)
	d.Mark = Point{asked, at(asked)}
	return []Drawing{d}
}

func drawPropagate(in values) []Drawing {
	distance := in.value["distance"]
	d := Drawing{Title: "The shortest round trip", X: Axis{Label: "distance", Unit: meters}, Y: Axis{Label: "round trip", Unit: seconds}}
	at := func(x float64) float64 { return 2 * x / (in.value["velocity"] * model.SpeedOfLight) }
	d.add("at "+in.text["velocity"]+" of the speed of light", 0, 2*distance, at)
	if rtt := in.value["rtt"]; rtt > 0 {
		d.level("the round trip that there is", 0, 2*distance, rtt)
	}
	d.Mark = Point{distance, at(distance)}
	return []Drawing{d}
}

func drawTurns(in values) []Drawing {
	turns, _, _, _ := turnsOf(in) // the working took the inputs
	rtt := in.value["rtt"]
	d := Drawing{Title: "What turns cost", X: Axis{Label: "round trip", Unit: seconds}, Y: Axis{Label: "time", Unit: seconds}}
	moving := 0.0
	if in.value["rate"] > 0 {
		moving = in.value["size"] * 8 / in.value["rate"]
	}
	at := func(x float64) float64 { return turns*x + moving }
	d.add(grouped(turns)+" turns", 0, 2*rtt, at)
	d.add("one turn", 0, 2*rtt, func(x float64) float64 { return x + moving })
	d.Mark = Point{rtt, at(rtt)}
	return []Drawing{d}
}

func drawWrap(in values) []Drawing {
	asked := in.value["rate"]
	d := Drawing{Title: "How soon numbers come round", X: Axis{"rate", rate, true}, Y: Axis{"time", seconds, true}}
	counter := func(x float64) float64 { return model.WrapTime(in.value["bits"], x) }
	d.add("counter of bytes", asked/decade, asked*decade, counter)
	d.add("TCP's sequence numbers", asked/decade, asked*decade, func(x float64) float64 { return model.WrapTime(sequenceHalf, x) })
	d.add("identifiers of IPv4 packets", asked/decade, asked*decade,
		func(x float64) float64 { return model.WrapTime(identifier, x) * in.value["size"] })
	d.Mark = Point{asked, counter(asked)}
	return []Drawing{d}
}

func drawBER(in values) []Drawing {
	ber := in.value["ber"]
	d := Drawing{Title: "What bit errors make of packets", X: Axis{"share of wrong bits", ratio, true}, Y: Axis{"packet loss", ratio, true}}
	at := func(x float64) float64 { return model.PacketLoss(x, in.value["size"], in.value["links"]) }
	d.add(in.text["size"], ber/decade/decade, math.Min(1, ber*decade*decade), at)
	d.Mark = Point{ber, at(ber)}
	return []Drawing{d}
}

func drawHighSpeed(in values) []Drawing {
	loss := in.value["loss"]
	d := Drawing{Title: "What loss allows", X: Axis{"loss", ratio, true}, Y: Axis{"rate", rate, true}}
	rated := func(window func(float64) float64) func(float64) float64 {
		return func(p float64) float64 { return model.WindowLimit(window(p)*in.value["mss"], in.duration("rtt")) }
	}
	from, to := loss/decade/decade, math.Min(1, loss*decade*decade)
	d.add("HighSpeed TCP", from, to, rated(model.HighSpeedWindow))
	d.add("Reno", from, to, rated(model.RenoWindow))
	d.Mark = Point{loss, rated(model.HighSpeedWindow)(loss)}
	return []Drawing{d}
}
