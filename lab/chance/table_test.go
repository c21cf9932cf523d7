package chance

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/notation"
)

func TestReadTable(t *testing.T) {
	got, err := ReadTable(strings.NewReader("4\n0.1\n\n 0.25 \n1e-6\n"))
	if diff := cmp.Diff([]notation.Delay{1, 100_000, 250_000, 4_000_000}, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"":                                "0 values; want 2 to 65536, one a line",
		"1\n":                             "1 values; want 2 to 65536, one a line",
		"1\n2ms\n":                        `2:1: "2ms": want milliseconds, 0 to 3600000`,
		"-1\n":                            `1:1: "-1": want milliseconds, 0 to 3600000`,
		"3600000.1\n":                     `1:1: "3600000.1": want milliseconds, 0 to 3600000`,
		"NaN\n":                           `1:1: "NaN": want milliseconds, 0 to 3600000`,
		strings.Repeat("1\n", maxTable+9): "65537 values; want 2 to 65536, one a line",
	} {
		if _, err := ReadTable(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%.20q: error %v; want %s", text, err, want)
		}
	}
}
