package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDocs runs the transcripts of the README and of docs/: in a block fenced as console, each line after a $ is a
// command, and what follows is what it prints. A block fenced as yaml and a file name is written to that file first.
//
// docs/calc.md is pure and must agree to the letter. The others measure: numbers may differ, words may not.
func TestDocs(t *testing.T) {
	t.Parallel()
	serving := make(chan struct{}, 1) // a page that serves on this host has its ports for itself
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(pages, filepath.Join(root, "README.md")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := readPage(string(text))
			if serves.Match(text) {
				serving <- struct{}{}
				defer func() { <-serving }()
			}
			carrying(t)
			dir := t.TempDir()
			for name, content := range p.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			runTranscript(t, p, dir)
		})
	}
}

// serves is of a page that has a server on this host, not in a lab.
var serves = regexp.MustCompile(`(?m)^\$ pathwise (serve|respond|agent) `)

type page struct {
	files map[string]string
	steps []step
}

type step struct {
	line          int
	command, want string
}

// readPage takes the blocks out of a page.
func readPage(text string) page {
	p := page{files: map[string]string{}}
	var info string
	var block strings.Builder
	inside, start := false, 0
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && !inside:
			inside, info, start = true, fence, n
			block.Reset()
		case isFence:
			inside = false
			if name, ok := strings.CutPrefix(info, "yaml "); ok {
				p.files[name] = block.String()
			} else if info == "console" {
				p.steps = append(p.steps, readSteps(block.String(), start)...)
			}
		case inside:
			block.WriteString(line + "\n")
		}
	}
	return p
}

func readSteps(block string, start int) []step {
	var steps []step
	for i, line := range strings.Split(strings.TrimSuffix(block, "\n"), "\n") {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			steps = append(steps, step{line: start + 1 + i, command: command})
		} else if len(steps) > 0 {
			steps[len(steps)-1].want += line + "\n"
		}
	}
	return steps
}

// runTranscript runs a page's commands in one shell's surroundings: pathwise is this test binary, and a lab of the
// default name is the page's own.
func runTranscript(t *testing.T, p page, dir string) {
	name := strings.NewReplacer(".md", "", "#", "-").Replace(filepath.Base(t.Name()))
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec %s \"$@\"\n", actAsPathwise, self)
	if err := os.WriteFile(filepath.Join(bin, "pathwise"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	shell := func(command string) *exec.Cmd {
		// A lab of its own name keeps pages apart, and apart from what the user runs.
		command = strings.ReplaceAll(command, "pathwise lab ", fmt.Sprintf("pathwise lab --name docs-%d-%s ", os.Getpid(), name))
		c := exec.Command("sh", "-c", command)
		c.Dir, c.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		return c
	}
	t.Cleanup(func() {
		if bytes.Contains([]byte(fmt.Sprint(p.steps)), []byte("pathwise lab up")) {
			_ = shell("pathwise lab down").Run() // already down where the page says so
		}
	})
	for _, s := range p.steps {
		if background, ok := strings.CutSuffix(s.command, " &"); ok {
			startBackground(t, shell(background), s)
			continue
		}
		out, err := shell(s.command).CombinedOutput()
		if err != nil && os.Geteuid() != 0 && bytes.Contains(out, []byte("sysctl -w")) {
			t.Skipf("line %d: $ %s: this kernel does not let this user: %s", s.line, s.command, out)
		}
		if err != nil {
			t.Fatalf("line %d: $ %s: %v\n%s", s.line, s.command, err, out)
		}
		if got := aside.ReplaceAllString(string(out), ""); !agrees(got, s.want, name == "calc") {
			t.Errorf("line %d: $ %s\nprinted:\n%s\nthe page has:\n%s", s.line, s.command, got, s.want)
		}
	}
}

// startBackground starts a command and waits for the first line that it prints, which the page has too.
func startBackground(t *testing.T, c *exec.Cmd, s step) {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the shell, and what it starts
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
		late := time.AfterFunc(10*time.Second, func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		_ = c.Wait() // its status is that of an ended command
		late.Stop()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !agrees(line, s.want, false) {
		t.Fatalf("line %d: $ %s\nprinted %q (%v), the page has %q", s.line, s.command, line, err, s.want)
	}
}

// aside is what a lab adds where this machine was too slow for it.
var aside = regexp.MustCompile(`(?mi)^(note: )?(IPv[46]: )?the emulator was the bottleneck: .*\n`)

// measured is what may differ from run to run: a number. Its unit may have another prefix, but is of the same thing.
var measured = regexp.MustCompile(`-?\d[\d,.:]*(?: ?(?:([kMGT]?bit/s|[kMGT]?B|[KMGT]iB|ms|µs|ns|s|min|h|packets?)\b|(%)))?`)

// dimension is what a unit is of.
func dimension(unit string) string {
	switch {
	case strings.HasSuffix(unit, "bit/s"):
		return "rate"
	case strings.HasSuffix(unit, "B"):
		return "size"
	case strings.HasPrefix(unit, "packet"):
		return "packets" // of one, too
	case unit == "min" || unit == "h" || strings.HasSuffix(unit, "s"):
		return "time"
	}
	return unit
}

func agrees(got, want string, exact bool) bool {
	if exact {
		return got == want
	}
	return shape(got) == shape(want)
}

// Transcripts agree where only numbers and prefixes of units differ.
func TestTranscriptsAgree(t *testing.T) {
	for _, test := range []struct {
		got, want string
		agree     bool
	}{
		{"round trip 12 ms / 5.1 %", "round trip 13 µs / 0.02 %", true},
		{"throughput   941 Mbit/s", "throughput  1.20 Gbit/s", true},
		{"4.03 GB in 1.2 min", "900 kB in 3.00 s", true},
		{"window 64.0 KiB", "window 6.00 MiB", true},
		{"cwnd 64.0 KiB, 3 packets", "cwnd 64 kB, 5 packets", true},
		{"throughput 941 Mbit/s", "throughput 941 MB", false},
		{"throughput 941 Mbit/s", "throughput 941", false},
		{"round trip 12 ms", "round trip 12 %", false},
		{"voice ▁▂█x▁ up to 3 ms", "voice x▇▇ up to 4 ms", true},
		{"voice ▁▂█x▁ up to 3 ms", "voice up to 4 ms", false},
		{"lost 1 packet", "lost 3 packets", true},
		{"lost 3 packets", "lost 3 s", false},
		{"lost 3 packets", "gone 3 packets", false},
	} {
		if agrees(test.got, test.want, false) != test.agree {
			t.Errorf("%q and %q: want agreement %v; shapes %q and %q", test.got, test.want, test.agree, shape(test.got), shape(test.want))
		}
	}
}

// sparkline is a line of letters that stand for values.
var sparkline = regexp.MustCompile(`[▁▂▃▄▅▆▇█x]*[▁▂▃▄▅▆▇█][▁▂▃▄▅▆▇█x]*`)

// shape is a text without its measured values and without how they were aligned. The intervals of a test count as one
// line: whether anything was still on its way when the test ended, and so has an interval of its own, is measured too.
func shape(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		line = measured.ReplaceAllStringFunc(line, func(number string) string {
			units := measured.FindStringSubmatch(number)
			return "#" + dimension(units[1]+units[2])
		})
		line = strings.Join(strings.Fields(sparkline.ReplaceAllString(line, "~")), " ")
		interval := strings.HasPrefix(line, "sum ")
		if interval && len(lines) > 0 && lines[len(lines)-1] == line {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
