package probe

import (
	"fmt"
	"io"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
)

// capacityText writes what the path can carry, the answer first.
func capacityText(w io.Writer, r *measure.Result) {
	if r.Samples.Links != nil {
		linksText(w, r)
		return
	}
	c := r.Samples.Capacity
	if c == nil {
		metricsText(w, r)
		return
	}
	way := ""
	if r.Way == measure.Reverse {
		way = ", from there to here"
	}
	fmt.Fprintf(w, "%s (%s)%s: %s\n", r.Target.Name, r.Target.Address, way, capacityAnswer(c))
	if c.Capacity.BitsPerSecond == 0 {
		return
	}
	fmt.Fprintf(w, "narrowest link  %s\n", estimateText(c.Capacity)+standardText(c))
	if b := c.Bucket; b != nil {
		what := "a shaper holds back"
		if b.Drops {
			what = "a policer drops"
		}
		fmt.Fprintf(w, "token bucket    %s; %s what is above\n", estimateText(b.Rate), what)
	}
	if c.Available != nil {
		fmt.Fprintf(w, "free            %s\n", estimateText(*c.Available))
	}
	if len(c.Modes) > 0 {
		fmt.Fprintf(w, "gaps            %.0f %% of those between packets are the link's own; long trains came at %s as a whole\n", 100*c.Modes[0].Share,
			quantity.FormatRate(c.AsymptoticBitsPerSecond))
	}
}

// capacityAnswer is what was asked for, in a line.
func capacityAnswer(c *measure.PathCapacity) string {
	if c.Capacity.BitsPerSecond == 0 {
		return "the capacity is not known"
	}
	answer := rateText(c.Capacity) + " at the narrowest link"
	if b := c.Bucket; b != nil {
		answer = rateText(b.Rate) + " for long"
		if b.Bytes > 0 {
			answer += ", after " + quantity.FormatSize(int64(b.Bytes))
		} else {
			answer += ", after some bytes"
		}
		answer += " at " + rateText(c.Capacity)
	}
	if c.Available != nil {
		answer += "; " + rateText(*c.Available) + " free"
	}
	return answer
}

// rateText is a rate with what it is worth.
func rateText(e measure.RateEstimate) string {
	switch {
	case e.Certain:
		return quantity.FormatRate(e.BitsPerSecond)
	case e.BitsPerSecond == 0:
		return "an unknown rate"
	}
	return "perhaps " + quantity.FormatRate(e.BitsPerSecond)
}

// estimateText is a rate with its interval, or why it is not certain.
func estimateText(e measure.RateEstimate) string {
	if e.BitsPerSecond == 0 && e.Doubt == "" {
		return "not known"
	} else if e.BitsPerSecond == 0 {
		return "not known: " + e.Doubt
	}
	text := fmt.Sprintf("%s (%s to %s)", quantity.FormatRate(e.BitsPerSecond), quantity.FormatRate(e.Low), quantity.FormatRate(e.High))
	if !e.Certain {
		text += ", uncertain: " + e.Doubt
	}
	return text
}

func standardText(c *measure.PathCapacity) string {
	if c.Standard == "" {
		return ""
	}
	return ", as of " + c.Standard
}
