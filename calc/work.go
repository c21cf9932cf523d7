package calc

import (
	"fmt"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

func workBDP(in values, w *worksheet) error {
	bdp := model.BandwidthDelay(in.value["rate"], in.duration("rtt"))
	w.step(bytesOut("bdp_bytes", "bdp", bdp), "rate * rtt / 8", fmt.Sprintf("%s * %s / 8", in.text["rate"], in.text["rtt"]))
	return nil
}

func workWindow(in values, w *worksheet) error {
	limit := model.WindowLimit(in.value["window"], in.duration("rtt"))
	w.step(rateOut("rate_bits_per_second", "rate", limit), "window * 8 / rtt", fmt.Sprintf("%s * 8 / %s", in.text["window"], in.text["rtt"]))
	if rate := in.value["rate"]; rate > 0 {
		needed := model.WindowNeeded(rate, in.duration("rtt"))
		w.step(bytesOut("window_needed_bytes", "window needed", needed), "rate * rtt / 8",
			fmt.Sprintf("%s * %s / 8", in.text["rate"], in.text["rtt"]))
	}
	return nil
}

func workMathis(in values, w *worksheet) error {
	rate := model.Mathis(in.value["mss"], in.duration("rtt"), in.value["loss"], in.value["c"])
	w.step(rateOut("rate_bits_per_second", "rate", rate), "C * MSS * 8 / (rtt * sqrt(loss))",
		fmt.Sprintf("%s * %s * 8 / (%s * sqrt(%s))", in.text["c"], in.text["mss"], in.text["rtt"], in.text["loss"]))
	return nil
}

// workPadhye has a step for each packet's share of halvings and of time-outs.
func workPadhye(in values, w *worksheet) error {
	mss, rtt, loss := in.value["mss"], in.duration("rtt"), in.value["loss"]
	halvings, timeouts := model.PadhyeTimes(rtt, loss)
	w.step(secondsOut("", "a packet", model.Seconds(halvings)), "rtt * sqrt(2 * loss / 3)",
		fmt.Sprintf("%s * sqrt(2 * %s / 3)", in.text["rtt"], in.text["loss"]))
	w.step(secondsOut("", "its time-outs", model.Seconds(timeouts)), "(rtt + 200 ms) * min(1, 3 * sqrt(3 * loss / 8)) * loss * (1 + 32 * loss^2)",
		fmt.Sprintf("(%[1]s + 200 ms) * min(1, 3 * sqrt(3 * %[2]s / 8)) * %[2]s * (1 + 32 * %[2]s^2)", in.text["rtt"], in.text["loss"]))
	w.step(rateOut("rate_bits_per_second", "rate", model.Padhye(mss, rtt, loss)), "MSS * 8 / (a packet + its time-outs)",
		fmt.Sprintf("%s * 8 / (%s + %s)", in.text["mss"], showSeconds(model.Seconds(halvings)), showSeconds(model.Seconds(timeouts))))
	return nil
}

func workLossBudget(in values, w *worksheet) error {
	rate, rtt, mss, c := in.value["rate"], in.duration("rtt"), in.value["mss"], in.value["c"]
	window := model.BandwidthDelay(rate, rtt)
	budget := model.LossBudget(rate, rtt, mss, c)
	run := grouped(budget.RunLengthPackets)
	w.step(bytesOut("window_bytes", "window", window), "rate * rtt / 8", fmt.Sprintf("%s * %s / 8", in.text["rate"], in.text["rtt"]))
	w.aside(packetsOut("window_packets", "window in packets", budget.WindowPackets))
	w.step(packetsOut("run_length_packets", "run length", budget.RunLengthPackets).reading(run+" packets between losses"),
		"(window / (C * MSS))^2", fmt.Sprintf("(%s / (%s * %s))^2", showBytes(window), in.text["c"], in.text["mss"]))
	w.step(ratioOut("loss_ratio", "loss budget", budget.LossRatio, quantity.FormatRatio(budget.LossRatio)), "1 / run length", "1 / "+run)
	if loss := in.value["loss"]; loss > 0 {
		far := model.LongestRTT(rate, 1/loss, mss, c)
		w.step(secondsOut("longest_rtt_seconds", "longest rtt", far), "C * MSS * 8 / (rate * sqrt(loss))",
			fmt.Sprintf("%s * %s * 8 / (%s * sqrt(%s))", in.text["c"], in.text["mss"], in.text["rate"], in.text["loss"]))
	}
	return nil
}

// slowStartWindow is what slow start works up to: the product of rate and round trip, or the window where that is less; 0: no
// bound is given.
func slowStartWindow(in values) float64 {
	window := in.value["window"]
	if rate := in.value["rate"]; rate > 0 {
		if full := model.BandwidthDelay(rate, in.duration("rtt")); window == 0 || full < window {
			return full
		}
	}
	return window
}

func workSlowStart(in values, w *worksheet) error {
	start := model.SlowStart{MSS: in.value["mss"], Initial: in.value["initial-window"]}
	first := fmt.Sprintf("(%s * %s)", in.text["initial-window"], in.text["mss"])
	window, size := slowStartWindow(in), in.value["size"]
	if rate := in.value["rate"]; rate > 0 {
		full := model.BandwidthDelay(rate, in.duration("rtt"))
		w.step(bytesOut("", "full window", full), "rate * rtt / 8", fmt.Sprintf("%s * %s / 8", in.text["rate"], in.text["rtt"]))
	}
	if window == 0 && size == 0 {
		return missing("rate", "window", "size")
	}
	reach, sent := start.ToWindow(window)
	if window > 0 {
		elapsed := model.Seconds(float64(reach) * in.value["rtt"])
		w.aside(bytesOut("window_bytes", "window", window))
		w.step(roundsOut("rounds", "rounds", float64(reach)), "ceil(log2(window / (initial window * MSS)))",
			fmt.Sprintf("ceil(log2(%s / %s))", showBytes(window), first))
		w.step(secondsOut("time_seconds", "time", elapsed), "rounds * rtt", fmt.Sprintf("%d * %s", reach, in.text["rtt"]))
		w.step(bytesOut("sent_bytes", "sent by then", sent), "initial window * MSS * (2^rounds - 1)",
			fmt.Sprintf("%s * (2^%d - 1)", first, reach))
	}
	if size > 0 {
		rounds := start.ToDeliver(size, window)
		elapsed := model.Seconds(rounds * in.value["rtt"])
		formula, numbers := "ceil(log2(size / (initial window * MSS) + 1))", fmt.Sprintf("ceil(log2(%s / %s + 1))", in.text["size"], first)
		if window > 0 && sent < size {
			formula = "rounds to the window + ceil((size - sent by then) / window)"
			numbers = fmt.Sprintf("%d + ceil((%s - %s) / %s)", reach, in.text["size"], showBytes(sent), showBytes(window))
		}
		w.step(roundsOut("deliver_rounds", "rounds to deliver", rounds), formula, numbers)
		w.step(secondsOut("deliver_time_seconds", "time to deliver", elapsed), "rounds to deliver * rtt", grouped(rounds)+" * "+in.text["rtt"])
	}
	return nil
}

func workRecovery(in values, w *worksheet) error {
	r := model.RecoveryTime(in.value["rate"], in.duration("rtt"), in.value["mss"])
	growth := model.Acceleration(in.value["mss"], in.duration("rtt"))
	full, halved := grouped(r.FullPackets), grouped(r.HalvedPackets)
	w.step(packetsOut("window_packets", "window", r.FullPackets), "floor(rate * rtt / (8 * MSS))",
		fmt.Sprintf("floor(%s * %s / (8 * %s))", in.text["rate"], in.text["rtt"], in.text["mss"]))
	w.step(packetsOut("halved_packets", "after one loss", r.HalvedPackets), "floor(window / 2)", fmt.Sprintf("floor(%s / 2)", full))
	w.aside(roundsOut("rounds", "rounds to regain", r.Rounds))
	w.step(secondsOut("time_seconds", "time to regain", r.Time), "(window - after one loss) * rtt",
		fmt.Sprintf("(%s - %s) * %s", full, halved, in.text["rtt"]))
	faster := Line{Name: "acceleration_bits_per_second_per_second", Label: "acceleration", Value: growth, Unit: acceleration,
		Text: showRate(growth) + " per second"}
	w.step(faster, "MSS * 8 / rtt^2", fmt.Sprintf("%s * 8 / (%s)^2", in.text["mss"], in.text["rtt"]))
	return nil
}
