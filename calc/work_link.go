package calc

import (
	"fmt"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// overheadOf is what the inputs say of a packet, and the bytes of its IP header.
func overheadOf(in values) (o model.Overhead, ip float64) {
	ip = model.IPv4Header
	if in.value["ip"] == 6 {
		ip = model.IPv6Header
	}
	return model.Overhead{MTU: in.value["mtu"], Framing: in.value["framing"], Headers: ip + model.TCPHeader + in.value["tcp-options"]}, ip
}

func workOverhead(in values, w *worksheet) error {
	o, ip := overheadOf(in)
	if o.Payload() <= 0 {
		return &InputError{[]string{"mtu"}, &quantity.Error{Value: fmt.Sprint(o.MTU), Want: "more than the headers, " + showBytes(o.Headers)}}
	}
	wire, mss := bytesOut("wire_bytes", "wire", o.Wire()), bytesOut("mss_bytes", "MSS", o.Payload())
	share := ratioOut("ip_share_ratio", "IP share", o.IPShare(), percent(o.IPShare()))
	payload := ratioOut("payload_share_ratio", "TCP payload share", o.PayloadShare(), percent(o.PayloadShare()))
	w.step(wire.reading(showBytes(o.Wire())+" a packet"), "MTU + framing", in.text["mtu"]+" + "+in.text["framing"])
	w.step(mss.reading(showBytes(o.Payload())), "MTU - IP header - TCP header - TCP options",
		fmt.Sprintf("%s - %s - %d B - %s", in.text["mtu"], showBytes(ip), model.TCPHeader, in.text["tcp-options"]))
	w.step(share, "MTU / wire", in.text["mtu"]+" / "+showBytes(o.Wire()))
	w.step(payload, "MSS / wire", showBytes(o.Payload())+" / "+showBytes(o.Wire()))
	if rate := in.value["rate"]; rate > 0 {
		w.step(rateOut("ip_bits_per_second", "IP rate", rate*o.IPShare()), "rate * IP share", in.text["rate"]+" * "+share.Text)
		w.step(rateOut("payload_bits_per_second", "TCP payload rate", rate*o.PayloadShare()), "rate * TCP payload share",
			in.text["rate"]+" * "+payload.Text)
	}
	return nil
}

const transferHeaders = model.IPv4Header + model.TCPHeader + model.TCPTimestamps

// transferOf is the transfer that the inputs ask for: its rate is of payload.
func transferOf(in values) model.Transfer {
	mss := in.value["mss"]
	link := model.Overhead{MTU: mss + transferHeaders, Framing: in.value["framing"], Headers: transferHeaders}
	return model.Transfer{
		Bytes: in.value["size"], Rate: in.value["rate"] * link.PayloadShare(), RTT: in.duration("rtt"), Window: in.value["window"],
		SlowStart: model.SlowStart{MSS: mss, Initial: in.value["initial-window"]},
	}
}

func workTransfer(in values, w *worksheet) error {
	t := transferOf(in)
	p := model.TransferTime(t)
	payload, mean := quantity.FormatRate(t.Rate), t.Bytes*8/p.Total.Seconds()
	steady := rateOut("steady_bits_per_second", "steady rate", p.SteadyRate)
	start := secondsOut("slow_start_seconds", "slow start", p.SlowStart)
	middle, last := secondsOut("steady_seconds", "steady", p.Steady), secondsOut("last_seconds", "last", p.Last)

	w.step(rateOut("payload_bits_per_second", "payload rate", t.Rate), "rate * MSS / (MSS + headers + framing)",
		fmt.Sprintf("%s * %s / (%s + %d B + %s)", in.text["rate"], in.text["mss"], in.text["mss"], transferHeaders, in.text["framing"]))
	if t.Window > 0 {
		w.step(steady, "min(payload rate, window * 8 / rtt)", fmt.Sprintf("min(%s, %s * 8 / %s)", payload, in.text["window"], in.text["rtt"]))
	} else {
		w.aside(steady)
	}
	w.aside(roundsOut("slow_start_rounds", "rounds of slow start", float64(p.Rounds)),
		bytesOut("slow_start_bytes", "sent in slow start", p.SlowStartBytes))
	w.step(start.reading(start.Text+" for "+showBytes(p.SlowStartBytes)), "rounds * rtt", fmt.Sprintf("%d * %s", p.Rounds, in.text["rtt"]))
	w.aside(bytesOut("steady_bytes", "sent at the steady rate", p.SteadyBytes))
	w.step(middle, "bytes * 8 / steady rate", fmt.Sprintf("%s * 8 / %s", showBytes(p.SteadyBytes), quantity.FormatRate(p.SteadyRate)))
	w.aside(bytesOut("last_bytes", "sent last", p.LastBytes))
	w.step(last, "bytes * 8 / payload rate + rtt", fmt.Sprintf("%s * 8 / %s + %s", showBytes(p.LastBytes), payload, in.text["rtt"]))
	w.step(secondsOut("total_seconds", "total", p.Total).reading(showSeconds(p.Total)+", on average "+showRate(mean)),
		"slow start + steady + last",
		fmt.Sprintf("%s + %s + %s", start.Text, middle.Text, last.Text))
	w.aside(rateOut("mean_bits_per_second", "mean rate", mean))
	return nil
}
