package report

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/document"
)

// divided is the diagnosis of a path whose second of three parts loses packets, as the lab played it.
func divided(t *testing.T) *diagnose.Diagnosis {
	t.Helper()
	d := &diagnose.Diagnosis{}
	if err := document.ReadPacked(filepath.Join("..", "diagnose", "testdata", "segments", "loss-2.json.gz"), diagnose.MostBytes, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// The parts of a path have a table in each format that people read, and on the page a drawing, with a bar for each part of which it is told
// what the whole could reach through it.
func TestParts(t *testing.T) {
	d := divided(t)
	d.Segments.Segments[0].From = "<b>x</b>"
	d.Segments.Points = append(d.Segments.Points, diagnose.Point{Name: "p9", State: diagnose.PointOffRoute, Means: "it is far away"})
	for _, f := range []Format{HTML, Markdown} {
		text := html.UnescapeString(written(t, New(d, told, nil, "test", made), f))
		text = regexp.MustCompile(`</?t[drh]( scope="row"| class="problem")*>|[|*\s]+|&lt;`).ReplaceAllString(text, " ")
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"By its parts, forward", d.Segments.Says, "p9 does not divide the path: it is far away",
			"<b>x</b> - p1 4.06 ms 0.000 % 0.000 % to 0.023 % 57.9 Mbit/s 57.9 Mbit/s pass the whole could reach 57.9 Mbit/s",
			"p1 - p2 20.0 ms 0.092 % 0.048 % to 0.154 % 23.8 Mbit/s 17.2 Mbit/s fail 14 of 15236 packets were lost",
			"p2 - carol 16.0 ms 0.008 % 0.000 % to 0.146 % 17.2 Mbit/s - cannot tell it lies behind"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q\n%s", f, want, text[:min(len(text), 6000)])
			}
		}
	}
	page := written(t, New(d, told, nil, "test", made), HTML)
	tree, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	bars, raw := map[string]int{}, 0
	for node := range tree.Descendants() {
		for _, a := range node.Attr {
			if node.Data == "rect" && a.Key == "class" {
				bars[a.Val]++
			}
		}
		if node.Data == "b" {
			t.Error("a name is markup")
		}
		if node.Data == "pre" && node.Type == html.ElementNode {
			raw++
		}
	}
	drawn := 0
	for _, s := range d.Segments.Segments {
		if s.CouldReach != nil {
			drawn++
		}
	}
	if bars["fail"] != 1 || bars["fail"]+bars["pass"]+bars["unknown"] != drawn || raw != len(d.Results)+len(d.Segments.Results) {
		t.Errorf("bars %v of %d, %d Results", bars, drawn, raw)
	}
}

// A path that was not divided has no such table.
func TestNoParts(t *testing.T) {
	for _, f := range []Format{HTML, Markdown} {
		if text := written(t, New(recorded(t, "receive-window-limited"), told, nil, "test", made), f); strings.Contains(text, "By its parts") {
			t.Errorf("%s has parts", f)
		}
	}
}

// With a mask no name of a point is left, and the word for this host stays.
func TestMaskParts(t *testing.T) {
	d := divided(t)
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	longer := regexp.MustCompile(`\bp([12])\b`).ReplaceAll(text, []byte("berlin-$1"))
	if err := json.Unmarshal(longer, d); err != nil {
		t.Fatal(err)
	}
	masked, err := New(d, told, nil, "test", made).Mask()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats {
		text := written(t, masked, f)
		if strings.Contains(text, "berlin") || strings.Contains(text, "carol") || !regexp.MustCompile(`here - host-|"from": "here"`).MatchString(text) {
			t.Errorf("%s: %q", f, regexp.MustCompile(`.*(berlin|carol|here - ).*`).FindAllString(text, 3))
		}
	}
}
