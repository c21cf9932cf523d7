package demo

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// The table has each round with its cause and the advice, in 80 columns.
func TestPrint(t *testing.T) {
	var out strings.Builder
	(&Case{}).Print(&out, []Round{
		{Fault: "loss on a bad cable", Verdict: "random-loss", Expected: 94e6, Achieved: 2.89e6, Predicted: 8.64e6, Reached: 8.21e6,
			TransferSeconds: 138, Extrapolated: true, Advice: []string{"look for errors on the links and interfaces along the path: a bad cable, a dirty fibre, a duplex mismatch"}},
		{Fault: "receive buffer left at 87380 bytes", Verdict: "receive-window-limited", Achieved: 8.21e6, TransferSeconds: 48.7,
			Advice: []string{`on carol: sysctl -w net.ipv4.tcp_rmem="4096 87380 4194304"`}},
		{Fault: "none", Verdict: "healthy", Expected: 94e6, Achieved: 87.4e6, TransferSeconds: 4.58},
	})
	want := `
fault                     50 MB in     achieved    predicted      reached
loss on a bad cable       2.3 min*  2.89 Mbit/s  8.64 Mbit/s  8.21 Mbit/s
  found   random-loss; the path carries 94.0 Mbit/s
  advice  look for errors on the links and interfaces along the path: a bad
          cable, a dirty fibre, a duplex mismatch
receive buffer left at      48.7 s  8.21 Mbit/s            -            -
87380 bytes
  found   receive-window-limited
  advice  on carol: sysctl -w net.ipv4.tcp_rmem="4096 87380 4194304"
none                        4.58 s  87.4 Mbit/s            -            -
  found   healthy; the path carries 94.0 Mbit/s
* worked out from the first 8s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +printed):\n%s", diff)
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("%q is wider than 80 columns", line)
		}
	}
}
