package page

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

// What WCAG 2.2 asks (1.4.3, 1.4.11): of text against what it stands on, and of marks against what is beside them.
const (
	textContrast = 4.5
	markContrast = 3.0
	// shadeContrast is that of two shades beside each other, whose order says which is which, and of which the darkest is a mark.
	shadeContrast = 1.2
)

// Every colour that says something can be told from what it stands on, in light and in dark.
func TestContrast(t *testing.T) {
	css, err := files.ReadFile("static/style.css")
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string][2]string{}
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`).FindAllStringSubmatch(string(css), -1) {
		tokens[m[1]] = [2]string{m[2], m[3]}
	}
	for _, c := range []struct {
		least   float64
		grounds []string
		of      []string
	}{
		{textContrast, []string{"paper", "raised"}, []string{"ink", "quiet", "link", "warn-text", "bad-text"}},
		{textContrast, []string{"none"}, []string{"quiet"}},
		{textContrast, []string{"better"}, []string{"on-better"}},
		{textContrast, []string{"good"}, []string{"on-good"}},
		{textContrast, []string{"warn"}, []string{"on-warn"}},
		{textContrast, []string{"bad"}, []string{"on-bad"}},
		{markContrast, []string{"paper"}, []string{
			"edge", "focus", "series", "compare", "warn", "warn-strong", "bad", "smoke-4",
			"loss-0", "loss-1", "loss-2", "loss-3", "loss-4", "loss-5",
		}},
		{shadeContrast, []string{"paper"}, []string{"smoke-1"}},
		{shadeContrast, []string{"smoke-1"}, []string{"smoke-2"}},
		{shadeContrast, []string{"smoke-2"}, []string{"smoke-3"}},
		{shadeContrast, []string{"smoke-3"}, []string{"smoke-4"}},
	} {
		for _, ground := range c.grounds {
			for _, name := range c.of {
				for i, theme := range []string{"light", "dark"} {
					if got := contrast(t, tokens[name][i], tokens[ground][i]); got < c.least {
						t.Errorf("%s: --%s on --%s has a contrast of %.2f, want %.1f", theme, name, ground, got, c.least)
					}
				}
			}
		}
	}
}

// contrast is the ratio of luminances of two colours such as #1a1c1e, from 1 to 21 (WCAG 2.2).
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	l, m := luminance(t, a), luminance(t, b)
	return (max(l, m) + 0.05) / (min(l, m) + 0.05)
}

func luminance(t *testing.T, colour string) (sum float64) {
	t.Helper()
	if len(colour) != 7 {
		t.Fatalf("%q is no colour", colour)
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		if v := float64(n) / 255; v <= 0.04045 {
			sum += weight * v / 12.92
		} else {
			sum += weight * math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return sum
}
