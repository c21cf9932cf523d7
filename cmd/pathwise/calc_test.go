package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/calc"
)

// runCalc runs "pathwise calc" with the arguments in line.
func runCalc(line string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(append([]string{"calc"}, strings.Fields(line)...), strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// Each example in --help works, as text and as JSON whose names end in their unit.
func TestCalcExamples(t *testing.T) {
	units := []string{"_per_second", "_seconds", "_bytes", "_ratio", "_packets", "rounds", "_version", "c", "_count", "_meters"}
	for _, k := range calc.All() {
		for _, example := range k.Examples {
			line := k.Name + " " + example
			if status, out, errs := runCalc(line); status != exitDone || errs != "" || strings.Count(out, " = ") < 2 {
				t.Errorf("calc %s: status %d, printed %q, %q", line, status, out, errs)
			}
			status, out, errs := runCalc(line + " --json")
			var doc calcDoc
			if err := json.Unmarshal([]byte(out), &doc); err != nil || status != exitDone || errs != "" {
				t.Errorf("calc %s --json: status %d, %v, %q", line, status, err, errs)
				continue
			}
			if doc.Schema != "pathwise.calc/1" || doc.Name != k.Name || doc.Formula == "" || doc.Source == "" || len(doc.Outputs) == 0 {
				t.Errorf("calc %s --json: incomplete: %s", line, out)
			}
			for _, names := range []map[string]float64{doc.Inputs, doc.Outputs} {
				for name := range names {
					if !hasAnySuffix(name, units) {
						t.Errorf("calc %s --json: %s has no unit", line, name)
					}
				}
			}
		}
	}
}

func hasAnySuffix(s string, suffixes []string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// The figures of the references, from flag to number.
func TestCalcOutputs(t *testing.T) {
	cases := map[string]map[string]float64{
		"bdp --rate 100mbit --rtt 50ms":                        {"bdp_bytes": 625000},
		"window --window 64K --rtt 5ms":                        {"rate_bits_per_second": 104857600},
		"window --window 1 --rtt 155ms --rate 40mbit":          {"rate_bits_per_second": 8 / 0.155, "window_needed_bytes": 775000},
		"mathis --mss 8948 --rtt 72ms --loss 0.0064012%":       {"rate_bits_per_second": 86.986290e6},
		"mathis --mss 8948 --rtt 72ms --loss 0.0064012% --c 1": {"rate_bits_per_second": 86.986290e6 / 0.7},
		"padhye --mss 1000 --rtt 40ms --loss 6%":               {"rate_bits_per_second": 8000 / (0.008 + 0.24*0.45*0.06*1.1152)},
		"lossbudget --rate 500mbit --rtt 76ms --mss 8948 --loss 0.000525%": {"window_bytes": 4750000, "window_packets": 530.8449,
			"run_length_packets": 575094, "loss_ratio": 1.738845e-6, "longest_rtt_seconds": 0.04373856},
		"recovery --rate 1gbit --rtt 1ms --mss 1500": {"window_packets": 83, "halved_packets": 41, "rounds": 42, "time_seconds": 0.042,
			"acceleration_bits_per_second_per_second": 12e9},
		"overhead --rate 100mbit": {"wire_bytes": 1538, "mss_bytes": 1448, "ip_share_ratio": 0.975293, "payload_share_ratio": 0.941482,
			"ip_bits_per_second": 97.5293e6, "payload_bits_per_second": 94.1482e6},
		"slowstart --rtt 40ms --size 10MB --rate 50mbit": {"window_bytes": 250000, "rounds": 5, "time_seconds": 0.2, "sent_bytes": 448880,
			"deliver_rounds": 44, "deliver_time_seconds": 1.76},
		"slowstart --rtt 40ms --size 1MB --window 4MiB --rate 50mbit --initial-window 2 --mss 1000": {"window_bytes": 250000, "rounds": 7,
			"time_seconds": 0.28, "sent_bytes": 254000, "deliver_rounds": 10, "deliver_time_seconds": 0.4},
		"transfer --size 1MB --rate 8mbit --rtt 100ms --mss 1000 --framing 0 --window 10000": {"payload_bits_per_second": 8e6 / 1.052,
			"steady_bits_per_second": 800e3, "slow_start_rounds": 0, "slow_start_bytes": 0, "slow_start_seconds": 0, "steady_bytes": 990e3,
			"steady_seconds": 9.9, "last_bytes": 10e3, "last_seconds": 0.11052, "total_seconds": 10.01052, "mean_bits_per_second": 8e6 / 10.01052},
		"serialize --rate 1gbit": {"time_seconds": 12e-6, "packets_per_second": 83333.3333, "length_meters": 2399.539},
		"serialize --rate 56k":   {"time_seconds": 0.214285714, "packets_per_second": 4.6666667, "length_meters": 42848919.9},
		"propagate --distance 100km --rtt 1ms": {"one_way_seconds": 0.5000962e-3, "rtt_seconds": 1.0001924e-3, "reach_meters": 99980.7847,
			"stretch_ratio": 0.999807847},
		"propagate --distance 22236mi --velocity 100%":       {"one_way_seconds": 0.119367156, "rtt_seconds": 0.238734312},
		"turns --rtt 75ms --size 400kB --chunk 4kB":          {"turns_count": 100, "waiting_seconds": 7.5},
		"turns --rtt 75ms --size 1MB --turns 2 --rate 8mbit": {"waiting_seconds": 0.15, "moving_seconds": 1, "total_seconds": 1.15},
		"wrap --rate 1gbit":                                  {"counter_seconds": 34.359738, "sequence_seconds": 17.179869, "identifier_seconds": 0.786432},
		"wrap --rate 10gbit --bits 64":                       {"counter_seconds": 1.47573952590e10, "sequence_seconds": 1.7179869, "identifier_seconds": 0.0786432},
		"ber --ber 1e-12 --links 10":                         {"loss_ratio": 1.2e-7},
		"ber --ber 1e-10 --rate 1gbit":                       {"loss_ratio": 1.2e-6, "between_seconds": 10},
		"hstcp --rtt 100ms --loss 0.00001%": {"window_packets": 83000, "rate_bits_per_second": 9.61472e9, "reno_window_packets": 3794.7332,
			"reno_rate_bits_per_second": 439.5819e6, "increase_packets": 72.5157895, "decrease_ratio": 0.1},
	}
	for line, want := range cases {
		status, out, errs := runCalc(line + " --json")
		var doc calcDoc
		if err := json.Unmarshal([]byte(out), &doc); err != nil || status != exitDone {
			t.Errorf("calc %s: status %d, %v, %q", line, status, err, errs)
			continue
		}
		if diff := cmp.Diff(want, doc.Outputs, cmpopts.EquateApprox(1e-6, 0)); diff != "" {
			t.Errorf("calc %s (-want +got):\n%s", line, diff)
		}
	}
}

func TestCalcText(t *testing.T) {
	cases := map[string]string{
		"bdp --rate 100mbit --rtt 50ms":             "bdp = rate * rtt / 8 = 100 Mbit/s * 50.0 ms / 8 = 625,000 B (610 KiB)\n",
		"bdp --rate 12345678 --rtt 12.3456ms":       "bdp = rate * rtt / 8 = 12.345678 Mbit/s * 12.3456 ms / 8 = 19,052 B (18.6 KiB)\n",
		"bdp --rate 1k --rtt 1.23456s":              "bdp = rate * rtt / 8 = 1.00 kbit/s * 1.23456 s / 8 = 154 B\n",
		"window --window 1 --rtt 1s":                "rate = window * 8 / rtt = 1 B * 8 / 1.00 s = 8.00 bit/s\n",
		"mathis --mss 8948 --rtt 72ms --loss 0.01%": "rate = C * MSS * 8 / (rtt * sqrt(loss)) = 0.7 * 8,948 B * 8 / (72.0 ms * sqrt(0.0100 %)) = 69,595,556 bit/s (69.6 Mbit/s)\n",
	}
	for line, want := range cases {
		if _, got, _ := runCalc(line); got != want {
			t.Errorf("calc %s\n got %q\nwant %q", line, got, want)
		}
	}
	if _, got, _ := runCalc("recovery --rate 1gbit --rtt 70ms --mss 1500"); !strings.Contains(got, " = 204.19 s (3.4 min)\n") {
		t.Errorf("recovery over 70 ms: %s", got)
	}
}

// A bad call prints one line that names field and value, prints no answer, and exits with 2.
func TestCalcBadCalls(t *testing.T) {
	cases := map[string]string{
		"bdp --rate fast --rtt 50ms":                `--rate: "fast": want a positive rate such as 100mbit or 1.5gbit`,
		"bdp --rate -5mbit --rtt 50ms":              `--rate: "-5mbit": want a positive rate`,
		"bdp --rate 1mbit":                          `--rtt: "": want a duration`,
		"bdp --rate 1mbit --rtt 0":                  `--rtt: "0": want a duration above zero`,
		"window --window 0 --rtt 1ms":               `--window: "0": want a size above zero`,
		"mathis --rtt 1ms --loss 0":                 `--loss: "0": want a ratio above zero`,
		"mathis --rtt 1ms --loss 2":                 `--loss: "2": want a ratio from 0 to 1`,
		"mathis --rtt 1ms --loss 1% --c nan":        `--c: "nan": want a number above zero`,
		"slowstart --rtt 1ms":                       `--rate, --window, --size: all are missing`,
		"slowstart --rtt 1ms --initial-window 1.5":  `--initial-window: "1.5": want a whole number`,
		"overhead --mtu 40":                         `--mtu: "40": want more than the headers, 52 B`,
		"overhead --ip 5":                           `--ip: "5": want 4 or 6`,
		"transfer --size 9EB --rate 1 --rtt 1ms":    `_seconds: the answer is out of range`,
		"bdp --rate 1e308 --rtt 290h":               `bdp_bytes: the answer is out of range`,
		"bdp --rate 1mbit --rtt 1ms --json --color": `--color: no such flag`,
		"bdp 1mbit": `1mbit`,
		"speed":     `"speed": no such command`,
	}
	for line, want := range cases {
		status, out, errs := runCalc(line)
		if status != exitBadCall || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("calc %s: status %d, printed %q and %q; want status 2 and %q", line, status, out, errs, want)
		}
	}
}
