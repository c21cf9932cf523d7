package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pathwise-net/pathwise/web"
)

func runExplain(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(append([]string{"explain"}, args...), strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// Every entry can be asked for, fits a terminal, and is the same as JSON.
func TestExplainEveryEntry(t *testing.T) {
	t.Parallel()
	for _, e := range web.Knowledge() {
		status, out, errs := runExplain(e.ID)
		if status != exitDone || errs != "" || !strings.HasPrefix(out, e.Title) || !strings.Contains(out, "\nSee also: ") {
			t.Errorf("%s: status %d, %q, %q", e.ID, status, out, errs)
		}
		for line := range strings.SplitSeq(out, "\n") {
			if len(line) > textWidth && !strings.HasPrefix(line, e.Title) && strings.Contains(line, " ") {
				t.Errorf("%s: a line of %d: %s", e.ID, len(line), line)
			}
		}
	}
	status, out, _ := runExplain("Smoke Graph", "--json")
	var doc struct{ Schema, ID, Kind, Text string }
	if err := json.Unmarshal([]byte(out), &doc); err != nil || status != exitDone || doc.Schema != "pathwise.knowledge.entry/1" || doc.ID != "smoke-graph" || doc.Text == "" {
		t.Errorf("as JSON: %d, %v, %s", status, err, out)
	}
}

// Pictures are below the text, no larger than a screen has room for, with all that the legend says.
func TestExplainPictures(t *testing.T) {
	seen := 0
	for _, e := range web.Knowledge() {
		if e.Picture == nil {
			continue
		}
		seen++
		lines := strings.Split(plotted(*e.Picture), "\n")
		if len(lines) > pictureHeight || !strings.HasSuffix(lines[len(lines)-1], "O "+e.Picture.Marked) {
			t.Errorf("%s: %d lines, or a legend that is too long:\n%s", e.ID, len(lines), strings.Join(lines, "\n"))
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > pictureWidth {
				t.Errorf("%s: a line is too long: %s", e.ID, line)
			}
		}
		if _, out, _ := runExplain(e.ID); !strings.Contains(out, e.Picture.Title+":\n"+lines[0]) {
			t.Errorf("%s: no picture in\n%s", e.ID, out)
		}
	}
	if seen < 30 {
		t.Errorf("%d pictures", seen)
	}
}

func TestExplainLists(t *testing.T) {
	status, out, _ := runExplain("--all")
	if n := strings.Count(out, "\n"); status != exitDone || n != 1+len(web.Knowledge()) {
		t.Errorf("status %d, %d lines of %d entries", status, n, len(web.Knowledge()))
	}
	status, out, _ = runExplain("--kind", "finding", "--json")
	var doc struct {
		Schema  string
		Entries []struct{ ID, Kind string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || status != exitDone || doc.Schema != "pathwise.knowledge/1" || len(doc.Entries) < 8 || doc.Entries[0].Kind != "finding" {
		t.Errorf("findings as JSON: %d, %v, %.300s", status, err, out)
	}
}

// A name that is none leads to those that are like it.
func TestExplainBadCalls(t *testing.T) {
	for args, want := range map[string]string{
		"recieve-window": `"recieve-window": no such entry; want one such as receive-window`,
		"xyzzy-plugh-q":  `want a finding, a metric, a formula, a fault or a term`,
		"--kind=words":   `--kind: "words": want finding, metric, formula, setting, fault or term`,
		"rtt --kind=no":  `--kind: "no": is for the list, and there is an ID: rtt`,
	} {
		status, out, errs := runExplain(strings.Fields(args)...)
		if status != exitBadCall || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %q, %q; want %s", args, status, out, errs, want)
		}
	}
}
