package main

import (
	"fmt"
	"strconv"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

func calcBDP(in calcInputs, w *worksheet) error {
	bdp := model.BandwidthDelay(in.value["rate"], in.duration("rtt"))
	w.outputs["bdp_bytes"] = bdp
	w.step("bdp = rate * rtt / 8", fmt.Sprintf("%s * %s / 8", in.text["rate"], in.text["rtt"]), bytesOut(bdp))
	return nil
}

func calcWindow(in calcInputs, w *worksheet) error {
	limit := model.WindowLimit(in.value["window"], in.duration("rtt"))
	w.outputs["rate_bits_per_second"] = limit
	w.step("rate = window * 8 / rtt", fmt.Sprintf("%s * 8 / %s", in.text["window"], in.text["rtt"]), rateOut(limit))
	if rate := in.value["rate"]; rate > 0 {
		needed := model.WindowNeeded(rate, in.duration("rtt"))
		w.outputs["window_needed_bytes"] = needed
		w.step("window needed = rate * rtt / 8", fmt.Sprintf("%s * %s / 8", in.text["rate"], in.text["rtt"]), bytesOut(needed))
	}
	return nil
}

func calcMathis(in calcInputs, w *worksheet) error {
	rate := model.Mathis(in.value["mss"], in.duration("rtt"), in.value["loss"], in.value["c"])
	w.outputs["rate_bits_per_second"] = rate
	w.step("rate = C * MSS * 8 / (rtt * sqrt(loss))",
		fmt.Sprintf("%s * %s * 8 / (%s * sqrt(%s))", in.text["c"], in.text["mss"], in.text["rtt"], in.text["loss"]), rateOut(rate))
	return nil
}

func calcLossBudget(in calcInputs, w *worksheet) error {
	rate, rtt, mss, c := in.value["rate"], in.duration("rtt"), in.value["mss"], in.value["c"]
	window := model.BandwidthDelay(rate, rtt)
	budget := model.LossBudget(rate, rtt, mss, c)
	w.outputs["window_bytes"] = window
	w.outputs["window_packets"] = budget.WindowPackets
	w.outputs["run_length_packets"] = budget.RunLengthPackets
	w.outputs["loss_ratio"] = budget.LossRatio
	w.step("window = rate * rtt / 8", fmt.Sprintf("%s * %s / 8", in.text["rate"], in.text["rtt"]), bytesOut(window))
	w.step("run length = (window / (C * MSS))^2",
		fmt.Sprintf("(%s / (%s * %s))^2", showBytes(window), in.text["c"], in.text["mss"]), grouped(budget.RunLengthPackets)+" packets between losses")
	w.step("loss budget = 1 / run length", "1 / "+grouped(budget.RunLengthPackets), quantity.FormatRatio(budget.LossRatio))
	if loss := in.value["loss"]; loss > 0 {
		far := model.LongestRTT(rate, 1/loss, mss, c)
		w.outputs["longest_rtt_seconds"] = far.Seconds()
		w.step("longest rtt = C * MSS * 8 / (rate * sqrt(loss))",
			fmt.Sprintf("%s * %s * 8 / (%s * sqrt(%s))", in.text["c"], in.text["mss"], in.text["rate"], in.text["loss"]), secondsOut(far))
	}
	return nil
}

func calcSlowStart(in calcInputs, w *worksheet) error {
	start := model.SlowStart{MSS: in.value["mss"], Initial: in.value["initial-window"]}
	first := fmt.Sprintf("(%s * %s)", in.text["initial-window"], in.text["mss"])
	window := in.value["window"]
	if rate := in.value["rate"]; rate > 0 {
		full := model.BandwidthDelay(rate, in.duration("rtt"))
		w.step("full window = rate * rtt / 8", fmt.Sprintf("%s * %s / 8", in.text["rate"], in.text["rtt"]), bytesOut(full))
		if window == 0 || full < window {
			window = full
		}
	}
	if window == 0 && in.value["size"] == 0 {
		return &badCall{fmt.Errorf("--rate, --window, --size: all are missing; want one, such as --rate 100mbit")}
	}
	if window > 0 {
		rounds, sent := start.ToWindow(window)
		elapsed := model.Seconds(float64(rounds) * in.value["rtt"])
		w.outputs["window_bytes"], w.outputs["rounds"], w.outputs["time_seconds"], w.outputs["sent_bytes"] = window, float64(rounds), elapsed.Seconds(), sent
		w.step("rounds = ceil(log2(window / (initial window * MSS)))", fmt.Sprintf("ceil(log2(%s / %s))", showBytes(window), first), strconv.Itoa(rounds))
		w.step("time = rounds * rtt", fmt.Sprintf("%d * %s", rounds, in.text["rtt"]), secondsOut(elapsed))
		w.step("sent by then = initial window * MSS * (2^rounds - 1)", fmt.Sprintf("%s * (2^%d - 1)", first, rounds), bytesOut(sent))
	}
	if size := in.value["size"]; size > 0 {
		rounds := start.ToDeliver(size, window)
		elapsed := model.Seconds(rounds * in.value["rtt"])
		w.outputs["deliver_rounds"], w.outputs["deliver_time_seconds"] = rounds, elapsed.Seconds()
		formula, numbers := "ceil(log2(size / (initial window * MSS) + 1))", fmt.Sprintf("ceil(log2(%s / %s + 1))", in.text["size"], first)
		if reach, sent := start.ToWindow(window); window > 0 && sent < size {
			formula = "rounds to the window + ceil((size - sent by then) / window)"
			numbers = fmt.Sprintf("%d + ceil((%s - %s) / %s)", reach, in.text["size"], showBytes(sent), showBytes(window))
		}
		w.step("rounds to deliver = "+formula, numbers, grouped(rounds))
		w.step("time to deliver = rounds to deliver * rtt", grouped(rounds)+" * "+in.text["rtt"], secondsOut(elapsed))
	}
	return nil
}

func calcRecovery(in calcInputs, w *worksheet) error {
	r := model.RecoveryTime(in.value["rate"], in.duration("rtt"), in.value["mss"])
	growth := model.Acceleration(in.value["mss"], in.duration("rtt"))
	w.outputs["window_packets"], w.outputs["halved_packets"] = r.FullPackets, r.HalvedPackets
	w.outputs["rounds"], w.outputs["time_seconds"] = r.Rounds, r.Time.Seconds()
	w.outputs["acceleration_bits_per_second_per_second"] = growth
	w.step("window = floor(rate * rtt / (8 * MSS))",
		fmt.Sprintf("floor(%s * %s / (8 * %s))", in.text["rate"], in.text["rtt"], in.text["mss"]), grouped(r.FullPackets)+" packets")
	w.step("after one loss = floor(window / 2)", fmt.Sprintf("floor(%s / 2)", grouped(r.FullPackets)), grouped(r.HalvedPackets)+" packets")
	w.step("time to regain = (window - after one loss) * rtt",
		fmt.Sprintf("(%s - %s) * %s", grouped(r.FullPackets), grouped(r.HalvedPackets), in.text["rtt"]), secondsOut(r.Time))
	w.step("acceleration = MSS * 8 / rtt^2", fmt.Sprintf("%s * 8 / (%s)^2", in.text["mss"], in.text["rtt"]), rateOut(growth)+" per second")
	return nil
}

func calcOverhead(in calcInputs, w *worksheet) error {
	ip := map[float64]float64{4: model.IPv4Header, 6: model.IPv6Header}[in.value["ip"]]
	o := model.Overhead{MTU: in.value["mtu"], Framing: in.value["framing"], Headers: ip + model.TCPHeader + in.value["tcp-options"]}
	if o.Payload() <= 0 {
		return badFlag("mtu", &quantity.Error{Value: fmt.Sprint(o.MTU), Want: "more than the headers, " + showBytes(o.Headers)})
	}
	w.outputs["wire_bytes"], w.outputs["mss_bytes"] = o.Wire(), o.Payload()
	w.outputs["ip_share_ratio"], w.outputs["payload_share_ratio"] = o.IPShare(), o.PayloadShare()
	w.step("wire = MTU + framing", in.text["mtu"]+" + "+in.text["framing"], showBytes(o.Wire())+" a packet")
	w.step("MSS = MTU - IP header - TCP header - TCP options",
		fmt.Sprintf("%s - %s - %d B - %s", in.text["mtu"], showBytes(ip), model.TCPHeader, in.text["tcp-options"]), showBytes(o.Payload()))
	w.step("IP share = MTU / wire", in.text["mtu"]+" / "+showBytes(o.Wire()), percentOut(o.IPShare()))
	w.step("TCP payload share = MSS / wire", showBytes(o.Payload())+" / "+showBytes(o.Wire()), percentOut(o.PayloadShare()))
	if rate := in.value["rate"]; rate > 0 {
		w.outputs["ip_bits_per_second"], w.outputs["payload_bits_per_second"] = rate*o.IPShare(), rate*o.PayloadShare()
		w.step("IP rate = rate * IP share", in.text["rate"]+" * "+percentOut(o.IPShare()), rateOut(rate*o.IPShare()))
		w.step("TCP payload rate = rate * TCP payload share", in.text["rate"]+" * "+percentOut(o.PayloadShare()), rateOut(rate*o.PayloadShare()))
	}
	return nil
}

func calcTransfer(in calcInputs, w *worksheet) error {
	const headers = model.IPv4Header + model.TCPHeader + model.TCPTimestamps
	mss := in.value["mss"]
	link := model.Overhead{MTU: mss + headers, Framing: in.value["framing"], Headers: headers}
	t := model.Transfer{
		Bytes: in.value["size"], Rate: in.value["rate"] * link.PayloadShare(), RTT: in.duration("rtt"), Window: in.value["window"],
		SlowStart: model.SlowStart{MSS: mss, Initial: in.value["initial-window"]},
	}
	p := model.TransferTime(t)
	w.outputs["payload_bits_per_second"], w.outputs["steady_bits_per_second"] = t.Rate, p.SteadyRate
	w.outputs["slow_start_rounds"], w.outputs["slow_start_bytes"], w.outputs["slow_start_seconds"] = float64(p.Rounds), p.SlowStartBytes, p.SlowStart.Seconds()
	w.outputs["steady_bytes"], w.outputs["steady_seconds"] = p.SteadyBytes, p.Steady.Seconds()
	w.outputs["last_bytes"], w.outputs["last_seconds"] = p.LastBytes, p.Last.Seconds()
	w.outputs["total_seconds"], w.outputs["mean_bits_per_second"] = p.Total.Seconds(), t.Bytes*8/p.Total.Seconds()

	w.step("payload rate = rate * MSS / (MSS + headers + framing)",
		fmt.Sprintf("%s * %s / (%s + %d B + %s)", in.text["rate"], in.text["mss"], in.text["mss"], headers, in.text["framing"]), rateOut(t.Rate))
	if t.Window > 0 {
		w.step("steady rate = min(payload rate, window * 8 / rtt)",
			fmt.Sprintf("min(%s, %s * 8 / %s)", quantity.FormatRate(t.Rate), in.text["window"], in.text["rtt"]), rateOut(p.SteadyRate))
	}
	w.step("slow start = rounds * rtt", fmt.Sprintf("%d * %s", p.Rounds, in.text["rtt"]), secondsOut(p.SlowStart)+" for "+showBytes(p.SlowStartBytes))
	w.step("steady = bytes * 8 / steady rate", fmt.Sprintf("%s * 8 / %s", showBytes(p.SteadyBytes), quantity.FormatRate(p.SteadyRate)), secondsOut(p.Steady))
	w.step("last = bytes * 8 / payload rate + rtt", fmt.Sprintf("%s * 8 / %s + %s", showBytes(p.LastBytes), quantity.FormatRate(t.Rate), in.text["rtt"]), secondsOut(p.Last))
	w.step("total = slow start + steady + last", fmt.Sprintf("%s + %s + %s", secondsOut(p.SlowStart), secondsOut(p.Steady), secondsOut(p.Last)),
		secondsOut(p.Total)+", on average "+rateOut(t.Bytes*8/p.Total.Seconds()))
	return nil
}
