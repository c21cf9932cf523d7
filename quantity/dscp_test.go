package quantity

import (
	"strings"
	"testing"
)

func TestDSCP(t *testing.T) {
	for text, want := range map[string]int{"ef": 46, "EF": 46, "af13": 14, "CS7": 56, "le": 1, "be": 0, "DF": 0, "default": 0, "va": 44, "63": 63, "5": 5} {
		if got, err := ParseDSCP(text); got != want || err != nil {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "64", "-1", "af14", "cs8", "x", "4 6"} {
		if got, err := ParseDSCP(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
	for dscp := range 64 {
		if got, err := ParseDSCP(strings.ToLower(FormatDSCP(dscp))); got != dscp || err != nil {
			t.Errorf("%d is written as %s, and read as %d, %v", dscp, FormatDSCP(dscp), got, err)
		}
	}
}
