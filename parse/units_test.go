package parse

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/measure"
)

func TestValue(t *testing.T) {
	cases := []struct {
		metric       measure.Metric
		digits, unit string
		want         float64
	}{
		{"x_bits_per_second", "941", "Mbits/sec", 941e6},
		{"x_bits_per_second", "9.41", "Gbits/sec", 9.41e9},
		{"x_bits_per_second", "9.41", "(Gbits/sec)", 9.41e9},
		{"x_bits_per_second", "1.5e3", "", 1500},
		{"x_bits_per_second", "94", "Mbps", 94e6},
		{"x_bits_per_second", "94", "Mb/s", 94e6},
		{"x_bits_per_second", "94", "MBPS", 94e6 * 8},
		{"x_bits_per_second", "94", "MBIT/S", 94e6},
		{"x_bits_per_second", "94", "mbit", 94e6},
		{"x_bits_per_second", "94", "M", 94e6},
		{"x_bits_per_second", "94", "Mibit/s", 94 * (1 << 20)},
		{"x_bits_per_second", "10", "MB/s", 80e6},
		{"x_bits_per_second", "10", "MiB/s", 80 * (1 << 20)},
		{"x_bits_per_second", "10", "KBytes/sec", 80 * 1024},
		{"x_bits_per_second", "10", "kbytes/second", 80e3},
		{"x_bits_per_second", "135", "Bps", 135 * 8},
		{"x_bits_per_second", "135", "bits per second", 135},
		{"x_bytes_per_second", "80", "Mbit/s", 10e6},
		{"x_bytes_per_second", "10", "MB/s", 10e6},
		{"x_packets_per_second", "1.2", "Mpps", 1.2e6},
		{"x_packets_per_second", "12", "packets/s", 12},
		{"x_packets_per_second", "12", "k", 12e3},
		{"x_seconds", "12.3", "ms", 0.0123},
		{"x_seconds", "80", "usec", 80e-6},
		{"x_seconds", "80", "µs", 80e-6},
		{"x_seconds", "80", "μs", 80e-6},
		{"x_seconds", "1", "Minutes", 60},
		{"x_seconds", "-5", "ns.", -5e-9},
		{"x_bytes", "1.10", "GBytes", 1.1 * (1 << 30)},
		{"x_bytes", "64", "KB", 64e3},
		{"x_bytes", "64", "K", 64 << 10},
		{"x_bytes", "64", "k", 64 << 10},
		{"x_bytes", "64", "KiB", 64 << 10},
		{"x_bytes", "8", "kbit", 1000},
		{"x_bytes", "1,048,576", "octets", 1 << 20},
		{"x_ratio", "50", "%", 0.5},
		{"x_ratio", "50", "ppm", 50e-6},
		{"x_ratio", "0.5", "", 0.5},
		{"x_packets", "7", "pkts", 7},
		{"x_count", "1.5", "k", 1500},
	}
	for _, c := range cases {
		got, err := convert(c.metric, c.digits, c.unit, false)
		if err != nil || math.Abs(got-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s %q %q: got %v, %v; want %v", c.metric, c.digits, c.unit, got, err, c.want)
		}
	}
}

func TestValueRefuses(t *testing.T) {
	for _, c := range []struct{ metric, digits, unit string }{
		{"x_bits_per_second", "1.10", "GBytes"}, // an amount, not a rate
		{"x_bits_per_second", "1", "pps"},
		{"x_bits_per_second", "1", "Xbit/s"},
		{"x_bits_per_second", "1e308", "Tbit/s"},
		{"x_bytes", "1", "MB/s"},
		{"x_seconds", "1", "fortnights"},
		{"x_seconds", "1", "kms"},
		{"x_ratio", "1", "ms"},
		{"x_packets", "1", "%"},
		{"x_count", "1", "ms"},
		{"x_seconds", "1e999", "s"},
	} {
		if v, err := convert(measure.Metric(c.metric), c.digits, c.unit, false); err == nil {
			t.Errorf("%s %q %q: got %v, want an error", c.metric, c.digits, c.unit, v)
		}
	}
}

// Every unit that an error names as an example can be read.
func TestExamples(t *testing.T) {
	for unit := range examples {
		if !slices.Contains(measure.Units, unit) {
			t.Errorf("%s is no unit of a metric", unit)
		}
	}
	for _, unit := range measure.Units {
		words := strings.FieldsFunc(strings.ReplaceAll(examples[unit], " or ", ", "), func(r rune) bool { return r == ',' || r == ' ' })
		if len(words) == 0 {
			t.Errorf("no example of %s", unit)
		}
		for _, w := range words {
			if _, err := factor(unit, w, false); err != nil {
				t.Error(err)
			}
		}
	}
}
