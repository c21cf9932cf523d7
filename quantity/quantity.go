// Package quantity turns the quantities that people write into numbers in SI base units, and back: rates in bit/s,
// sizes in bytes, durations, ratios.
//
// Rates are powers of ten (1 kbit/s is 1000 bit/s). Sizes may be either, because the tools in this field disagree; each
// function says what it takes. What a Format function prints, the Parse function of the same name reads. The package
// knows nothing of flags or files: whoever calls it adds the name of the field to an Error.
package quantity

import (
	"fmt"
	"strconv"
	"strings"
)

// Error says that a text is not the quantity that was wanted.
type Error struct {
	Value string // the text as given
	Want  string // what would be right, with an example
}

func (e *Error) Error() string { return fmt.Sprintf("%q: want %s", e.Value, e.Want) }

// BadInput marks the error as the caller's, not the program's.
func (e *Error) BadInput() bool { return true }

// split cuts s into a plain decimal number and the unit after it, in lower case and without space around it. The number
// is empty where s does not start with one; signs, "inf", "nan", hexadecimal and underscores are not numbers here.
func split(s string) (number, unit string) {
	s = strings.TrimSpace(s)
	end := digits(s, 0)
	if end < len(s) && s[end] == '.' {
		end = digits(s, end+1)
	}
	if end < len(s) && (s[end] == 'e' || s[end] == 'E') { // an exponent, unless it is the E of "1EB"
		start := end + 1
		if start < len(s) && (s[start] == '+' || s[start] == '-') {
			start++
		}
		if stop := digits(s, start); stop > start {
			end = stop
		}
	}
	return s[:end], strings.ToLower(strings.TrimSpace(s[end:]))
}

// digits returns where the run of digits that starts at from ends.
func digits(s string, from int) int {
	for from < len(s) && '0' <= s[from] && s[from] <= '9' {
		from++
	}
	return from
}

// prefix returns the exponent of the SI prefix that unit starts with, as a count of thousands, and what follows it.
func prefix(unit string) (thousands int, rest string) {
	if unit == "" {
		return 0, ""
	}
	if i := strings.IndexByte("kmgtpe", unit[0]); i >= 0 {
		return i + 1, unit[1:]
	}
	return 0, unit
}

// maxDecimals keeps absurdly small values from printing a page of zeros; they print as zero.
const maxDecimals = 24

// significant prints v with that many significant digits, and with all the digits before the decimal point.
func significant(v float64, figures int) string {
	decimals := min(max(0, figures-1-exponent(v, figures)), maxDecimals)
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// exponent is the power of ten of the first digit of v, once rounded to that many significant digits.
func exponent(v float64, figures int) int {
	_, e, found := strings.Cut(strconv.FormatFloat(v, 'e', figures-1, 64), "e")
	if !found { // infinite or not a number
		return 0
	}
	exp, _ := strconv.Atoi(e) // what FormatFloat wrote is a number
	return exp
}

// scaled prints v with three significant digits, which is more than a live path reproduces, in the smallest of the
// units, each step times the one before, that keeps it under step.
func scaled(v, step float64, units []string) string {
	const figures = 3
	text := significant(v, figures)
	for _, unit := range units[:len(units)-1] {
		shown, err := strconv.ParseFloat(text, 64) // as shown, so that 999.6 is not printed as 1000
		if err != nil || max(shown, -shown) < step {
			return text + " " + unit
		}
		v /= step
		text = significant(v, figures)
	}
	return text + " " + units[len(units)-1]
}
