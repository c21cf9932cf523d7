package probe

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
)

// lossSentence says what a path loses, where that begins, and which routers merely answer seldom. The route has so many hops, and the target
// answers or does not.
func lossSentence(l measure.PathLoss, hops int, target bool) string {
	var s string
	switch {
	case l.End == 0 && hops == 0:
		return "No hop answers."
	case l.End == 0:
		return "No answer has come yet."
	case !l.Reached && target:
		return fmt.Sprintf("The target answers no more: hop %d is the last that does.", l.End)
	case !l.Reached:
		s = fmt.Sprintf("The target does not answer. As far as hop %d, the last that does, ", l.End)
	}
	lost := fmt.Sprintf("%s %% of the packets (%s to %s %%, at 95 %%)", lossPercent(l.LossRatio), lossPercent(l.Low), lossPercent(l.High))
	switch {
	case !l.Lossy && l.LossRatio == 0:
		s += "nothing is lost"
		if l.High > 0 {
			s += " (at most " + lossPercent(l.High) + " %, at 95 %)"
		}
	case !l.Lossy:
		s += "no more is lost than a path without faults may lose: " + lost
	case l.Hop > 0 && l.After > 0:
		s += fmt.Sprintf("%s are lost from hop %d on: hop %d still loses fewer, and all behind it lose some", lost, l.Hop, l.After)
	case l.Hop > 0:
		s += fmt.Sprintf("%s are lost from hop %d on, the first that answers", lost, l.Hop)
	case l.After > 0:
		s += fmt.Sprintf("%s are lost, from a hop behind hop %d and up to hop %d on; more rounds will tell", lost, l.After, l.By)
	default:
		s += fmt.Sprintf("%s are lost; too few so far to say where", lost)
	}
	if l.Hop > 0 {
		s += fmt.Sprintf(", %s %% sure", strconv.FormatFloat(math.Floor(min(100*l.Confidence, 99.9)*10)/10, 'f', -1, 64))
	}
	s += "."
	if len(l.Limiting) > 0 {
		s += " " + limitingText(l.Limiting)
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// mostWays is how many ways a text tells apart.
const mostWays = 4

// waysSentence says what the ways of a route lose of which some lose more than others.
func waysSentence(r *measure.RoundsSample) string {
	s := fmt.Sprintf("%s %% of the packets (%s to %s %%, at 95 %%) are lost, on some ways more than on others.", lossPercent(r.Loss.LossRatio), lossPercent(r.Loss.Low), lossPercent(r.Loss.High))
	told, calm, lossy := map[string]bool{}, 0, 0
	for _, way := range r.Ways {
		name := wayName(r, way)
		switch {
		case !way.Loss.Lossy:
			calm++
			continue
		case told[name]:
			continue
		}
		told[name] = true
		if lossy++; lossy <= mostWays {
			s += " By " + name + ": " + strings.ToLower(way.Loss.Verdict[:1]) + way.Loss.Verdict[1:]
		}
	}
	if lossy > mostWays {
		s += fmt.Sprintf(" So do %d more ways.", lossy-mostWays)
	}
	if calm > 0 {
		s += fmt.Sprintf(" Of %d flows %d lose no more than a path without faults may.", len(r.Ways), calm)
	}
	return s
}

// wayName is where a way differs from others: who answers it at the hops where flows pass several.
func wayName(r *measure.RoundsSample, way measure.WayRounds) string {
	var names []string
	for i, who := range way.Routers {
		if len(r.Hops[i].Routers) > 0 && who != "" {
			names = append(names, fmt.Sprintf("%s (hop %d)", who, r.Hops[i].TTL))
		}
	}
	if names == nil {
		return "one flow"
	}
	return strings.Join(names, ", ")
}

// lossPercent is a ratio in percent, with as many digits as are worth reading.
func lossPercent(ratio float64) string {
	if ratio >= 0.1 {
		return fmt.Sprintf("%.0f", 100*ratio)
	}
	return fmt.Sprintf("%.2g", 100*ratio)
}

func limitingText(ttls []int) string {
	if len(ttls) == 1 {
		return fmt.Sprintf("Hop %d answers seldom, and forwards all the same.", ttls[0])
	}
	var names []string
	for _, ttl := range ttls {
		names = append(names, fmt.Sprint(ttl))
	}
	last := len(names) - 1
	return "Hops " + strings.Join(names[:last], ", ") + " and " + names[last] + " answer seldom, and forward all the same."
}
