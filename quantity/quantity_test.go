package quantity

import (
	"errors"
	"math"
	"testing"
	"time"
)

// check runs one parser over its table of texts that it takes, each with its value, and of texts that it refuses.
func check[T comparable](t *testing.T, parse func(string) (T, error), good map[string]T, bad []string) {
	t.Helper()
	for in, want := range good {
		if got, err := parse(in); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range bad {
		got, err := parse(in)
		var typed *Error
		if !errors.As(err, &typed) || typed.Value != in || typed.Want == "" || !typed.BadInput() {
			t.Errorf("%q: got %v and error %v; want an *Error that names it", in, got, err)
		}
	}
}

func TestParseRate(t *testing.T) {
	check(t, ParseRate, map[string]float64{
		"100mbit": 100e6, "1gbit": 1e9, "622mbit": 622e6, "1.5Gbit/s": 1.5e9, "100M": 100e6, "10Mbit/s": 10e6,
		"56kbit": 56e3, "1000000": 1e6, " 94.1 Mbit/s ": 94.1e6, "1Tbit": 1e12, "1e6": 1e6, "2e3k": 2e6, "9bit": 9, ".5g": 5e8,
	}, []string{"", "fast", "0", "-1mbit", "+1mbit", "inf", "nan", "1e400", "1e308T", "100mbps", "100MB", "100 M bit x", "0x10", "1_000", "1,5M", "."})
}

func TestParseSize(t *testing.T) {
	check(t, ParseSize, map[string]int64{
		"0": 0, "1448": 1448, "1448B": 1448, "50MB": 50e6, "50 mb": 50e6, "4MiB": 4 << 20, "64K": 64 << 10, "64k": 64 << 10, "64kB": 64e3,
		"1G": 1 << 30, "1.5MB": 15e5, "0.1K": 102, "9223372036854775807": math.MaxInt64, "9007199254740993": 9007199254740993,
		"1EB": 1e18, "1e3": 1000, "7EiB": 7 << 60,
	}, []string{"", "-1", "big", "9223372036854775808", "8EiB", "9.3EB", "1e19", "1ib", "1KiBit", "1 0", "NaN", "Inf"})
}

func TestParseDuration(t *testing.T) {
	check(t, ParseDuration, map[string]time.Duration{
		"12ms": 12 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "2m": 2 * time.Minute, "0": 0, "0s": 0, "10": 10 * time.Second,
		"0.05": 50 * time.Millisecond, "50 ms": 50 * time.Millisecond, "3.5 min": 210 * time.Second, "1m30s": 90 * time.Second,
		"85 µs": 85 * time.Microsecond, "85us": 85 * time.Microsecond, "2h": 2 * time.Hour,
	}, []string{"", "-1s", "soon", "1e12", "1e400", "3 fortnights", "ms", "1x", "9999999h", "inf"})
}

func TestParseSpan(t *testing.T) {
	const day = 24 * time.Hour
	check(t, ParseSpan, map[string]time.Duration{
		"30s": 30 * time.Second, "10m": 10 * time.Minute, "5": 5 * time.Second, "0": 0, "7d": 7 * day, "7 d": 7 * day, "2w": 14 * day,
		"1y": 365 * day, "0.5d": 12 * time.Hour, "200y": MaxSpan,
	}, []string{"", "d", "-1d", "1 month", "201y", "1e400d", "2000000h", "7dd", "nand"})
}

func TestParseDistance(t *testing.T) {
	check(t, ParseDistance, map[string]float64{"1200km": 1.2e6, "750 mi": 750 * 1609.344, "2.4m": 2.4, "1e3KM": 1e6},
		[]string{"", "0km", "-1km", "12", "12 miles", "1e308km", "km", "infm"})
}

func TestParseRatio(t *testing.T) {
	check(t, ParseRatio, map[string]float64{
		"0": 0, "1": 1, "0.0001": 0.0001, "0.01%": 0.0001, "100%": 1, "1.00 %": 0.01, "1e-5": 1e-5,
	}, []string{"", "%", "101%", "1.1", "-0.1", "half", "nan", "0.1%%", "1 percent"})
}

func TestErrorReadsAsOneLine(t *testing.T) {
	_, err := ParseRate("fast")
	if got, want := err.Error(), `"fast": want a positive rate such as 100mbit or 1.5gbit`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestFormat(t *testing.T) {
	cases := []struct{ got, want string }{
		{FormatRate(94.1482e6), "94.1 Mbit/s"},
		{FormatRate(100e6), "100 Mbit/s"},
		{FormatRate(999.6e6), "1.00 Gbit/s"},
		{FormatRate(999.4e6), "999 Mbit/s"},
		{FormatRate(0), "0.00 bit/s"},
		{FormatRate(12e15), "12000 Tbit/s"},
		{FormatRate(-5e6), "-5.00 Mbit/s"},
		{FormatRate(math.NaN()), "NaN Tbit/s"},
		{FormatRate(math.Inf(1)), "+Inf Tbit/s"},
		{FormatSize(0), "0 B"},
		{FormatSize(999), "999 B"},
		{FormatSize(1500), "1.50 kB"},
		{FormatSize(50e6), "50.0 MB"},
		{FormatSize(math.MaxInt64), "9.22 EB"},
		{FormatSize(math.MinInt64), "-9.22 EB"},
		{FormatBinarySize(1023), "1023 B"},
		{FormatBinarySize(625000), "610 KiB"},
		{FormatBinarySize(64 << 10), "64.0 KiB"},
		{FormatBinarySize(1<<20 - 1), "1.00 MiB"},
		{FormatSeconds(0), "0 s"},
		{FormatSeconds(0.05), "50.0 ms"},
		{FormatSeconds(4.28), "4.28 s"},
		{FormatSeconds(85e-6), "85 µs"},
		{FormatSeconds(12.4e-6), "12 µs"},
		{FormatSeconds(1.25e-6), "1.2 µs"},
		{FormatSeconds(999.4e-6), "999 µs"},
		{FormatSeconds(999.6e-6), "1.00 ms"},
		{FormatSeconds(0.9999), "1.00 s"},
		{FormatSeconds(204.155), "3.4 min"},
		{FormatSeconds(86.4), "86.4 s"},
		{FormatSeconds(7200), "2.0 h"},
		{FormatSeconds(-0.0123), "-12.3 ms"},
		{FormatSeconds(40e-9), "40 ns"},
		{FormatSeconds(math.Inf(1)), "+Inf h"},
		{FormatDistance(2.4), "2.40 m"},
		{FormatDistance(965.4), "965 m"},
		{FormatDistance(2399.5), "2.40 km"},
		{FormatDistance(42848920), "42849 km"},
		{FormatRatio(0), "0.00 %"},
		{FormatRatio(0.01), "1.00 %"},
		{FormatRatio(1), "100 %"},
		{FormatRatio(0.0001), "0.0100 %"},
		{FormatRatio(1.7388476e-6), "0.00017388 %"},
		{FormatRatio(0.975293), "97.529 %"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// FuzzRoundTrip checks that each parser reads what its formatter prints, to the precision printed.
func FuzzRoundTrip(f *testing.F) {
	for _, v := range []float64{0, 1, 999.6, 85e-6, 119.99, 94.1482e6, 1e-15, 1e30} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v float64) {
		v = math.Abs(v)
		near := func(what, text string, got, want, tolerance float64, err error) {
			t.Helper()
			if err != nil || math.Abs(got-want) > tolerance {
				t.Errorf("%s of %v printed %q, read as %v, %v", what, want, text, got, err)
			}
		}
		if v > 1e-9 && v < 1e300 {
			got, err := ParseRate(FormatRate(v))
			near("rate", FormatRate(v), got, v, 0.0051*v, err)
		}
		if v < 9.2e18 { // what rounds up past the largest int64 cannot come back
			n := int64(v)
			got, err := ParseSize(FormatSize(n))
			near("size", FormatSize(n), float64(got), float64(n), 0.0051*float64(n)+1, err)
		}
		if v < 8e18 {
			n := int64(v)
			got, err := ParseSize(FormatBinarySize(n))
			near("binary size", FormatBinarySize(n), float64(got), float64(n), 0.0051*float64(n)+1, err)
		}
		if v < 9e9 {
			got, err := ParseDuration(FormatSeconds(v))
			near("duration", FormatSeconds(v), got.Seconds(), v, 0.051*v+1e-9, err) // two digits below 1 ms
		}
		if v > 1e-9 && v < 1e300 {
			got, err := ParseDistance(FormatDistance(v))
			near("distance", FormatDistance(v), got, v, 0.0051*v, err)
		}
		if v <= 1 {
			got, err := ParseRatio(FormatRatio(v))
			near("ratio", FormatRatio(v), got, v, 0.000051*v+1e-20, err)
		}
	})
}

// FuzzParse checks that no text makes a parser panic or return a value out of its range.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"100mbit", "1.5Gbit/s", "64K", "4MiB", "1e", "1e+", "2m30s", "0.01%", "9223372036854775807E", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseRate(s); err == nil && (!(v > 0) || math.IsInf(v, 0)) {
			t.Errorf("rate %q: %v", s, v)
		}
		if v, err := ParseSize(s); err == nil && v < 0 {
			t.Errorf("size %q: %v", s, v)
		}
		if v, err := ParseDuration(s); err == nil && v < 0 {
			t.Errorf("duration %q: %v", s, v)
		}
		if v, err := ParseDistance(s); err == nil && (!(v > 0) || math.IsInf(v, 0)) {
			t.Errorf("distance %q: %v", s, v)
		}
		if v, err := ParseRatio(s); err == nil && !(v >= 0 && v <= 1) {
			t.Errorf("ratio %q: %v", s, v)
		}
	})
}

func TestFormatByUnit(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{
		{0.05, "seconds", "50.0 ms"}, {0.05, "s", "50.0 ms"}, {1e6, "bits_per_second", "1.00 Mbit/s"}, {1e6, "bit/s", "1.00 Mbit/s"},
		{1500, "bytes", "1.50 kB"}, {0.01, "ratio", "1.00 %"}, {3, "packets", "3 packets"}, {1, "packets", "1 packet"},
		{1, "packets_per_second", "1 packets/s"}, {2e6, "bytes_per_second", "2.00 MB/s"}, {1, "hop", "1 hop"}, {7, "count", "7"}, {1.5, "", "1.5"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestFormatCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 packets", 1: "1 packet", 12: "12 packets"} {
		if got := FormatCount(n, "packet"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
