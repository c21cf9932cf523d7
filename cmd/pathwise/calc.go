package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/model"
	"github.com/pathwise-net/pathwise/quantity"
)

// A calculator is one formula of package model on the command line. Its work reads the inputs and writes down its steps;
// flags, checks and printing are the same for all.
type calculator struct {
	name, short, source string
	examples            []string // arguments after "pathwise calc NAME"
	flags               []calcFlag
	work                func(in calcInputs, w *worksheet) error
}

// calcFlag is one input. Without a value it must be given, unless it is optional: then it is 0 in the inputs.
type calcFlag struct {
	name     string
	kind     calcKind
	value    string
	optional bool
	usage    string
}

// calcKind is how an input is read and shown, and the unit that its JSON name ends in.
type calcKind struct {
	unit  string
	parse func(string) (float64, error)
	show  func(float64) string
}

// calcInputs holds the inputs in SI base units under the names of their flags, and as text to put into formulas.
type calcInputs struct {
	value map[string]float64
	text  map[string]string
}

func (in calcInputs) duration(name string) time.Duration { return model.Seconds(in.value[name]) }

// worksheet collects what a calculation puts out.
type worksheet struct {
	outputs  map[string]float64 // names end in their unit
	formulas []string
	lines    []string
}

// step writes down one formula, the same with its numbers put in, and what comes out.
func (w *worksheet) step(formula, numbers, result string) {
	w.formulas = append(w.formulas, formula)
	w.lines = append(w.lines, formula+" = "+numbers+" = "+result)
}

// calcDoc is the JSON document of a calculation.
type calcDoc struct {
	Schema  string             `json:"schema"`
	Name    string             `json:"name"`
	Inputs  map[string]float64 `json:"inputs"`
	Outputs map[string]float64 `json:"outputs"`
	Formula string             `json:"formula"`
	Source  string             `json:"source"`
}

func calcCommand(s *session) *cobra.Command {
	c := &cobra.Command{
		Use:   "calc NAME",
		Short: "Work out a formula: what a path, a window, a loss rate or a header allows",
		Long: "Each calculator prints its formula, the formula with the numbers put in, and the answer.\n" +
			"Rates are bit/s in powers of ten (100mbit); sizes are bytes (1448, 50MB, 4MiB; K, M and G alone are powers of 1024);\n" +
			"times are 50ms, 1.5s or 2m; ratios are 0.0001 or 0.01%.",
		Example: "  pathwise calc bdp --rate 100mbit --rtt 50ms",
	}
	for _, k := range calculators() {
		c.AddCommand(k.command(s))
	}
	return c
}

func (k calculator) command(s *session) *cobra.Command {
	call := "  pathwise calc " + k.name + " "
	c := &cobra.Command{
		Use:     k.name,
		Short:   k.short,
		Long:    k.short + ".\n\nSource: " + k.source + ".",
		Example: call + strings.Join(k.examples, "\n"+call),
		Args:    cobra.NoArgs,
	}
	given := make(map[string]*string, len(k.flags))
	for _, f := range k.flags {
		given[f.name] = c.Flags().String(f.name, f.value, f.usage)
	}
	c.RunE = func(*cobra.Command, []string) error {
		doc, lines, err := k.calculate(given)
		if err != nil {
			return err
		}
		return s.emit(doc, func(w io.Writer) { fmt.Fprintln(w, strings.Join(lines, "\n")) })
	}
	return c
}

// longest is where package model ends its times: 292 years. No answer may pass for one that is cut off there.
var longest = time.Duration(math.MaxInt64).Seconds()

// calculate reads the flags, does the work and returns the document and the lines for people.
func (k calculator) calculate(given map[string]*string) (calcDoc, []string, error) {
	in := calcInputs{value: map[string]float64{}, text: map[string]string{}}
	doc := calcDoc{Schema: "pathwise.calc/1", Name: k.name, Inputs: map[string]float64{}, Source: k.source}
	for _, f := range k.flags {
		text := *given[f.name]
		if text == "" && f.optional {
			continue
		}
		v, err := f.kind.parse(text)
		if err != nil {
			return doc, nil, badFlag(f.name, err)
		}
		in.value[f.name], in.text[f.name] = v, f.kind.show(v)
		doc.Inputs[strings.ReplaceAll(f.name, "-", "_")+f.kind.unit] = v
	}
	sheet := &worksheet{outputs: map[string]float64{}}
	if err := k.work(in, sheet); err != nil {
		return doc, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(sheet.outputs)) {
		v := sheet.outputs[name]
		if math.IsInf(v, 0) || math.IsNaN(v) || strings.HasSuffix(name, "_seconds") && v >= longest {
			return doc, nil, &badCall{fmt.Errorf("%s: the answer is out of range; want less extreme inputs", name)}
		}
	}
	doc.Outputs, doc.Formula = sheet.outputs, strings.Join(sheet.formulas, "; ")
	return doc, sheet.lines, nil
}

// The kinds of input. All but inputExtra refuse zero, which no formula here has a use for.
var (
	inputRate      = calcKind{"_bits_per_second", quantity.ParseRate, showRate}
	inputTime      = calcKind{"_seconds", aboveZero(parseSeconds, "a duration above zero such as 50ms"), showSeconds}
	inputSize      = calcKind{"_bytes", aboveZero(parseBytes, "a size above zero such as 1448 or 4MiB"), showBytes}
	inputExtra     = calcKind{"_bytes", parseBytes, showBytes}
	inputRatio     = calcKind{"_ratio", aboveZero(quantity.ParseRatio, "a ratio above zero such as 0.0001 or 0.01%"), quantity.FormatRatio}
	inputCount     = calcKind{"_packets", parseCount, grouped}
	inputIPVersion = calcKind{"_version", parseIPVersion, grouped}
	inputPlain     = calcKind{"", parsePlain, func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }}
)

// aboveZero makes a parser that takes zero refuse it.
func aboveZero(parse func(string) (float64, error), want string) func(string) (float64, error) {
	return func(s string) (float64, error) {
		v, err := parse(s)
		if err == nil && v == 0 {
			err = &quantity.Error{Value: s, Want: want}
		}
		return v, err
	}
}

func parseSeconds(s string) (float64, error) {
	d, err := quantity.ParseDuration(s)
	return d.Seconds(), err
}

func parseBytes(s string) (float64, error) {
	n, err := quantity.ParseSize(s)
	return float64(n), err
}

func parseCount(s string) (float64, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n == 0 {
		return 0, &quantity.Error{Value: s, Want: "a whole number above zero such as 10"}
	}
	return float64(n), nil
}

func parseIPVersion(s string) (float64, error) {
	if s != "4" && s != "6" {
		return 0, &quantity.Error{Value: s, Want: "4 or 6"}
	}
	return parsePlain(s)
}

func parsePlain(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, &quantity.Error{Value: s, Want: "a number above zero such as 0.7"}
	}
	return v, nil
}

// showRate and showSeconds print an input as results are printed, but with all its digits where that would drop some.
func showRate(v float64) string {
	short := quantity.FormatRate(v)
	if back, err := quantity.ParseRate(short); err != nil || back != v {
		return strconv.FormatFloat(v/1e6, 'g', 12, 64) + " Mbit/s"
	}
	return short
}

func showSeconds(v float64) string {
	short := quantity.FormatSeconds(v)
	if back, err := parseSeconds(short); err == nil && back == v {
		return short
	}
	if v < 1 {
		return strconv.FormatFloat(v*1e3, 'g', 12, 64) + " ms"
	}
	return strconv.FormatFloat(v, 'g', 12, 64) + " s"
}

func showBytes(v float64) string { return grouped(v) + " B" }

// bytesOut, rateOut and secondsOut print a result: in full, and rounded beside it where that is easier to read.
func bytesOut(v float64) string {
	if v < 1024 || v >= math.MaxInt64 {
		return showBytes(v)
	}
	return showBytes(v) + " (" + quantity.FormatBinarySize(int64(math.Round(v))) + ")"
}

func rateOut(v float64) string {
	if v < 1000 {
		return quantity.FormatRate(v)
	}
	return grouped(v) + " bit/s (" + quantity.FormatRate(v) + ")"
}

func secondsOut(d time.Duration) string {
	short := quantity.FormatSeconds(d.Seconds())
	if d < 2*time.Minute {
		return short
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s (" + short + ")"
}

// percentOut prints a ratio with six digits, as link shares are compared.
func percentOut(ratio float64) string { return strconv.FormatFloat(100*ratio, 'g', 6, 64) + " %" }

// grouped prints v, which is not negative, rounded to a whole number with its digits in groups of three.
func grouped(v float64) string {
	if v >= 1e18 { // no longer a number to read digit by digit
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	digits := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// The inputs that several calculators share.
var (
	flagRate    = calcFlag{name: "rate", kind: inputRate, usage: "rate of the path, such as 100mbit"}
	flagRTT     = calcFlag{name: "rtt", kind: inputTime, usage: "round-trip time, such as 50ms"}
	flagMSS     = calcFlag{name: "mss", kind: inputSize, value: "1448", usage: "payload of a full packet in bytes"}
	flagC       = calcFlag{name: "c", kind: inputPlain, value: "0.7", usage: "the model's constant: 0.7 conservative, 1.0 CUBIC or Reno on Linux, 1.2247 evenly spaced losses"}
	flagInitial = calcFlag{name: "initial-window", kind: inputCount, value: "10", usage: "packets sent in the first round trip"}
	flagFraming = calcFlag{name: "framing", kind: inputExtra, value: "38", usage: "bytes around each IP packet on the link: 38 Ethernet, 42 with a VLAN tag, 0 where the rate counts IP packets"}
)

// maybe returns the flag as one that may be left out.
func (f calcFlag) maybe(usage string) calcFlag {
	f.value, f.optional, f.usage = "", true, usage
	return f
}

func calculators() []calculator {
	return []calculator{
		{
			name: "bdp", short: "Bandwidth-delay product: what must be in flight to fill the path",
			source:   "RFC 7323 section 1.1",
			examples: []string{"--rate 100mbit --rtt 50ms"},
			flags:    []calcFlag{flagRate, flagRTT},
			work:     calcBDP,
		}, {
			name: "window", short: "The rate that a window allows, and the window that a rate needs",
			source:   "RFC 7323 section 1.1",
			examples: []string{"--window 64K --rtt 50ms", "--window 4MiB --rtt 155ms --rate 570mbit"},
			flags:    []calcFlag{{name: "window", kind: inputSize, usage: "receive window or socket buffer, such as 4MiB"}, flagRTT, flagRate.maybe("also the window that this rate needs")},
			work:     calcWindow,
		}, {
			name: "mathis", short: "The rate that TCP holds at a loss ratio",
			source:   "Mathis, Semke, Mahdavi, Ott, The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, 1997",
			examples: []string{"--rtt 50ms --loss 0.01%", "--mss 8948 --rtt 72ms --loss 0.0064012%"},
			flags:    []calcFlag{flagMSS, flagRTT, {name: "loss", kind: inputRatio, usage: "share of packets lost, such as 0.01%"}, flagC},
			work:     calcMathis,
		}, {
			name: "lossbudget", short: "The most loss at which TCP still holds a rate",
			source:   "Mathis et al., 1997, solved for the loss; as NPAD reports it, 2008",
			examples: []string{"--rate 500mbit --rtt 76ms --mss 8948", "--rate 500mbit --rtt 76ms --mss 8948 --loss 0.000525%"},
			flags:    []calcFlag{flagRate, flagRTT, flagMSS, flagC, {name: "loss", kind: inputRatio, optional: true, usage: "also the longest round-trip time at this loss"}},
			work:     calcLossBudget,
		}, {
			name: "slowstart", short: "How long a connection takes to open its window, or to deliver a short transfer",
			source:   "RFC 5681 section 3.1, RFC 6928",
			examples: []string{"--rtt 50ms --rate 100mbit", "--rtt 50ms --window 4MiB", "--rtt 40ms --size 100kB"},
			flags: []calcFlag{flagRTT, flagRate.maybe("open the window to the bandwidth-delay product of this rate"),
				{name: "window", kind: inputSize, optional: true, usage: "open the window to this size"},
				{name: "size", kind: inputSize, optional: true, usage: "deliver this many bytes, no more than the window in a round trip"}, flagMSS, flagInitial},
			work: calcSlowStart,
		}, {
			name: "recovery", short: "How long a Reno connection takes to come back from one loss",
			source:   "RFC 5681 section 3.1",
			examples: []string{"--rate 1gbit --rtt 70ms --mss 1500", "--rate 100mbit --rtt 50ms"},
			flags:    []calcFlag{flagRate, flagRTT, flagMSS},
			work:     calcRecovery,
		}, {
			name: "overhead", short: "The share of a link that IP packets and TCP payload get",
			source:   "IEEE 802.3, RFC 791, RFC 8200, RFC 9293, RFC 7323 appendix A",
			examples: []string{"--rate 100mbit", "--mtu 9000 --ip 6 --framing 42"},
			flags: []calcFlag{{name: "mtu", kind: inputSize, value: "1500", usage: "size of a full IP packet in bytes"}, flagFraming,
				{name: "ip", kind: inputIPVersion, value: "4", usage: "IP version: 4 or 6"},
				{name: "tcp-options", kind: inputExtra, value: "12", usage: "bytes of TCP options in each packet: 12 timestamps, 0 none"},
				flagRate.maybe("also what is left of this link rate")},
			work: calcOverhead,
		}, {
			name: "transfer", short: "How long a transfer without loss takes: slow start, then the steady rate",
			source:   "RFC 5681 section 3.1, RFC 7323 section 1.1, model.TransferTime",
			examples: []string{"--size 50MB --rate 100mbit --rtt 50ms", "--size 50MB --rate 100mbit --rtt 50ms --window 87380"},
			flags: []calcFlag{{name: "size", kind: inputSize, usage: "bytes to move, such as 50MB"},
				{name: "rate", kind: inputRate, usage: "rate of the narrowest link, such as 100mbit"}, flagRTT, flagMSS, flagFraming,
				{name: "window", kind: inputSize, optional: true, usage: "receive window or socket buffer; unlimited when left out"}, flagInitial},
			work: calcTransfer,
		},
	}
}

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
