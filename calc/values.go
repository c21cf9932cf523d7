package calc

import (
	"math"
	"strconv"
	"time"

	"github.com/pathwise-net/pathwise/quantity"
)

// The units of values: those of metrics, and one more.
const (
	rate         = "bits_per_second"
	seconds      = "seconds"
	bytes        = "bytes"
	packets      = "packets"
	ratio        = "ratio"
	meters       = "meters"
	acceleration = "bits_per_second_per_second"
)

// These make a value of each unit: printed in full, and rounded beside it where that is easier to read.

func bytesOut(name, label string, v float64) Line {
	text := showBytes(v)
	if v >= 1024 && v < math.MaxInt64 {
		text += " (" + quantity.FormatBinarySize(int64(math.Round(v))) + ")"
	}
	return Line{Name: name, Label: label, Value: v, Unit: bytes, Text: text}
}

func rateOut(name, label string, v float64) Line {
	return Line{Name: name, Label: label, Value: v, Unit: rate, Text: showRate(v)}
}

func secondsOut(name, label string, d time.Duration) Line {
	return Line{Name: name, Label: label, Value: d.Seconds(), Unit: seconds, Text: showSeconds(d)}
}

func lengthOut(name, label string, v float64) Line {
	return Line{Name: name, Label: label, Value: v, Unit: meters, Text: quantity.FormatDistance(v)}
}

func packetsOut(name, label string, v float64) Line {
	return Line{Name: name, Label: label, Value: v, Unit: packets, Text: grouped(v) + " packets"}
}

func roundsOut(name, label string, v float64) Line {
	return Line{Name: name, Label: label, Value: v, Text: grouped(v)}
}

func ratioOut(name, label string, v float64, text string) Line {
	return Line{Name: name, Label: label, Value: v, Unit: ratio, Text: text}
}

// reading is a value that people read with more words than its number.
func (l Line) reading(text string) Line {
	l.Text = text
	return l
}

func showBytes(v float64) string { return grouped(v) + " B" }

func showRate(v float64) string {
	if v < 1000 {
		return quantity.FormatRate(v)
	}
	return grouped(v) + " bit/s (" + quantity.FormatRate(v) + ")"
}

func showSeconds(d time.Duration) string {
	short := quantity.FormatSeconds(d.Seconds())
	if d < 2*time.Minute {
		return short
	}
	return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + " s (" + short + ")"
}

// percent prints a ratio with six digits, as link shares are compared.
func percent(ratio float64) string { return strconv.FormatFloat(100*ratio, 'g', 6, 64) + " %" }

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
