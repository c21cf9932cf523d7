package calc

import (
	"fmt"
	"math"
	"strconv"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

func workSerialize(in values, w *worksheet) error {
	rate, size := in.value["rate"], in.value["size"]
	delay := model.SerializationDelay(size, rate)
	w.step(secondsOut("time_seconds", "time", delay), "size * 8 / rate", fmt.Sprintf("%s * 8 / %s", in.text["size"], in.text["rate"]))
	each := rate / (8 * size)
	text := strconv.FormatFloat(each, 'g', 3, 64)
	if each >= 1000 {
		text = grouped(each)
	}
	w.step(Line{Name: "packets_per_second", Label: "packets", Value: each, Unit: "packets_per_second", Text: text + " packets/s"},
		"rate / (8 * size)", fmt.Sprintf("%s / (8 * %s)", in.text["rate"], in.text["size"]))
	w.step(lengthOut("length_meters", "length on the link", size*8/rate*in.value["velocity"]*model.SpeedOfLight), "time * velocity * c",
		fmt.Sprintf("%s * %s * c", showSeconds(delay), in.text["velocity"]))
	return nil
}

func workPropagate(in values, w *worksheet) error {
	oneWay := model.PropagationDelay(in.value["distance"], in.value["velocity"])
	w.step(secondsOut("one_way_seconds", "one way", oneWay), "distance / (velocity * c)",
		fmt.Sprintf("%s / (%s * c)", in.text["distance"], in.text["velocity"]))
	w.step(secondsOut("rtt_seconds", "round trip", 2*oneWay), "2 * one way", "2 * "+showSeconds(oneWay))
	if rtt := in.duration("rtt"); rtt > 0 {
		reach := model.Reach(rtt, in.value["velocity"])
		w.step(lengthOut("reach_meters", "reach", reach), "rtt / 2 * velocity * c", fmt.Sprintf("%s / 2 * %s * c", in.text["rtt"], in.text["velocity"]))
		stretch := reach / in.value["distance"]
		text := strconv.FormatFloat(stretch, 'g', 3, 64)
		w.step(ratioOut("stretch_ratio", "stretch", stretch, text), "reach / distance",
			quantity.FormatDistance(reach)+" / "+in.text["distance"])
	}
	return nil
}

// turnsOf is how often the program waits, and how that was reckoned.
func turnsOf(in values) (turns float64, formula, numbers string, err error) {
	if turns = in.value["turns"]; turns > 0 {
		return turns, "", "", nil
	}
	size, chunk := in.value["size"], in.value["chunk"]
	if size == 0 || chunk == 0 {
		return 0, "", "", &InputError{[]string{"turns", "chunk"}, fmt.Errorf("want turns such as 12, or size and chunk such as 400kB and 4kB")}
	}
	return math.Ceil(size / chunk), "ceil(size / chunk)", fmt.Sprintf("ceil(%s / %s)", in.text["size"], in.text["chunk"]), nil
}

func workTurns(in values, w *worksheet) error {
	turns, formula, numbers, err := turnsOf(in)
	if err != nil {
		return err
	}
	if formula != "" {
		w.step(Line{Name: "turns_count", Label: "turns", Value: turns, Unit: "count", Text: grouped(turns)}, formula, numbers)
	}
	waits := model.TurnsTime(turns, in.duration("rtt"), 0, 0)
	w.step(secondsOut("waiting_seconds", "waiting", waits), "turns * rtt", grouped(turns)+" * "+in.text["rtt"])
	if in.value["rate"] > 0 && in.value["size"] > 0 {
		moves := model.TurnsTime(0, 0, in.value["size"], in.value["rate"])
		w.step(secondsOut("moving_seconds", "moving", moves), "size * 8 / rate", fmt.Sprintf("%s * 8 / %s", in.text["size"], in.text["rate"]))
		all := model.TurnsTime(turns, in.duration("rtt"), in.value["size"], in.value["rate"])
		w.step(secondsOut("total_seconds", "total", all), "waiting + moving", showSeconds(waits)+" + "+showSeconds(moves))
	}
	return nil
}

// The numbers that come round, in bits.
const (
	sequenceHalf = 31 // of TCP's sequence numbers, the half ahead is new and the half behind is old (RFC 7323 section 5.2)
	identifier   = 16 // of an IPv4 packet (RFC 791)
)

func workWrap(in values, w *worksheet) error {
	rate, bits := in.value["rate"], in.value["bits"]
	counter := model.WrapTime(bits, rate)
	w.step(spanOut("counter_seconds", "counter of bytes", counter), "2^bits * 8 / rate",
		fmt.Sprintf("2^%.0f * 8 / %s", bits, in.text["rate"]))
	w.step(spanOut("sequence_seconds", "TCP's sequence numbers", model.WrapTime(sequenceHalf, rate)), "2^31 * 8 / rate",
		fmt.Sprintf("2^%d * 8 / %s", sequenceHalf, in.text["rate"]))
	w.step(spanOut("identifier_seconds", "identifiers of IPv4 packets", model.WrapTime(identifier, rate)*in.value["size"]),
		"2^16 * size * 8 / rate", fmt.Sprintf("2^%d * %s * 8 / %s", identifier, in.text["size"], in.text["rate"]))
	return nil
}

// year is the mean one of the Gregorian calendar, in seconds.
const year = 365.2425 * 86400

// spanOut is a time that may be longer than a Duration holds.
func spanOut(name, label string, s float64) Line {
	text := quantity.FormatSeconds(s)
	if s >= 2*year {
		text = grouped(s/year) + " years"
	}
	return Line{Name: name, Label: label, Value: s, Unit: seconds, Text: text}
}

func workBER(in values, w *worksheet) error {
	ber, size := in.value["ber"], in.value["size"]
	loss := model.PacketLoss(ber, size, in.value["links"])
	w.step(ratioOut("loss_ratio", "packet loss", loss, quantity.FormatRatio(loss)), "1 - (1 - ber)^(8 * size * links)",
		fmt.Sprintf("1 - (1 - %s)^(8 * %s * %s)", in.text["ber"], in.text["size"], in.text["links"]))
	if rate := in.value["rate"]; rate > 0 {
		w.step(spanOut("between_seconds", "from one wrong bit to the next", 1/(ber*rate)), "1 / (ber * rate)",
			fmt.Sprintf("1 / (%s * %s)", in.text["ber"], in.text["rate"]))
	}
	if rtt := in.duration("rtt"); rtt > 0 {
		held := model.Mathis(in.value["mss"], rtt, loss, in.value["c"])
		w.step(rateOut("held_bits_per_second", "rate that TCP holds", held), "C * MSS * 8 / (rtt * sqrt(packet loss))",
			fmt.Sprintf("%s * %s * 8 / (%s * sqrt(%s))", in.text["c"], in.text["mss"], in.text["rtt"], quantity.FormatRatio(loss)))
	}
	return nil
}

func workHighSpeed(in values, w *worksheet) error {
	loss, mss, rtt := in.value["loss"], in.value["mss"], in.duration("rtt")
	reno, fast := model.RenoWindow(loss), model.HighSpeedWindow(loss)
	formula, numbers := "38 * (loss / 0.001)^(log(83000 / 38) / log(1e-7 / 1e-3))", fmt.Sprintf("38 * (%s / 0.1 %%)^-0.835", in.text["loss"])
	if fast == reno {
		formula, numbers = "1.2 / sqrt(loss)", "1.2 / sqrt("+in.text["loss"]+")"
	}
	rated := func(name, label, of string, window float64) {
		w.step(rateOut(name, label, model.WindowLimit(window*mss, rtt)), of+" * MSS * 8 / rtt",
			fmt.Sprintf("%s * %s * 8 / %s", grouped(window), in.text["mss"], in.text["rtt"]))
	}
	w.step(packetsOut("window_packets", "window", fast), formula, numbers)
	rated("rate_bits_per_second", "rate", "window", fast)
	w.step(packetsOut("reno_window_packets", "window of Reno", reno), "1.2 / sqrt(loss)", "1.2 / sqrt("+in.text["loss"]+")")
	rated("reno_rate_bits_per_second", "rate of Reno", "window of Reno", reno)
	increase, decrease := model.HighSpeedSteps(fast)
	w.aside(packetsOut("increase_packets", "more in each round trip", increase),
		ratioOut("decrease_ratio", "less at a loss", decrease, quantity.FormatRatio(decrease)))
	return nil
}
