package quantity

import (
	"math"
	"strconv"
)

// ParseSize reads a size in bytes, in any case: a number alone or with B is bytes; kB, MB, GB, TB, PB, EB are powers of
// 1000; KiB, MiB, ... are powers of 1024, and so are the bare K, M, G, ..., as iperf3 takes them. A fraction is rounded to
// whole bytes. Sizes that do not fit an int64 are refused. The error is an *Error.
func ParseSize(s string) (int64, error) {
	bad := &Error{Value: s, Want: "a size in bytes such as 1448, 64K (65536), 4MiB or 50MB"}
	text, unit := split(s)
	thousands, rest := prefix(unit)
	var scale float64
	switch rest {
	case "b":
		scale = math.Pow(1000, float64(thousands))
	case "", "ib":
		if rest == "ib" && thousands == 0 {
			return 0, bad
		}
		scale = math.Pow(1024, float64(thousands))
	default:
		return 0, bad
	}
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil { // exact also where a float64 is not
		if whole > math.MaxInt64/int64(scale) {
			return 0, bad
		}
		return whole * int64(scale), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	v = math.Round(v * scale)
	if err != nil || v >= math.MaxInt64 { // the constant rounds up to 2^63, the first that does not fit
		return 0, bad
	}
	return int64(v), nil
}

// FormatSize prints a size in bytes with three significant digits, in powers of 1000: "50.0 MB".
func FormatSize(bytes int64) string {
	if -1000 < bytes && bytes < 1000 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	return scaled(float64(bytes), 1000, []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"})
}

// FormatBinarySize prints a size in bytes with three significant digits, in powers of 1024: "64.0 KiB".
func FormatBinarySize(bytes int64) string {
	if -1024 < bytes && bytes < 1024 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	return scaled(float64(bytes), 1024, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"})
}
