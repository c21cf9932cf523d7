package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// There is a manual page of every command that help lists, and it has the command's example.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if status := run([]string{"man", dir}, nil, io.Discard, os.Stderr); status != exitDone {
		t.Fatalf("ended with status %d", status)
	}
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		text, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Error(err)
		} else if example, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n"); !strings.Contains(strings.ReplaceAll(string(text), "\\", ""), example) {
			t.Errorf("the page of %s does not have %q", c.CommandPath(), example)
		}
		for _, child := range c.Commands() {
			if child.IsAvailableCommand() && child.Name() != "help" {
				check(child)
			}
		}
	}
	check(rootCommand(&session{out: io.Discard, err: io.Discard}))
}

// Each shell gets a completion; bash takes its own.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		out, err := selfProcess(t, "completion", shell).Output()
		if err != nil || !strings.Contains(string(out), "pathwise") {
			t.Errorf("%s: %v, %d bytes", shell, err, len(out))
		}
		if bash, err := exec.LookPath("bash"); err == nil && shell == "bash" {
			c := exec.Command(bash, "-n")
			c.Stdin = strings.NewReader(string(out))
			if said, err := c.CombinedOutput(); err != nil {
				t.Errorf("bash: %v\n%s", err, said)
			}
		}
	}
}

// pathwise alone says what to try first, in 80 columns, and every command that it names is one.
func TestFirstSteps(t *testing.T) {
	var out strings.Builder
	if status := run(nil, nil, &out, os.Stderr); status != exitDone {
		t.Fatalf("ended with status %d", status)
	}
	root := rootCommand(&session{out: io.Discard, err: io.Discard})
	for _, step := range firstSteps {
		words := strings.Fields(step[0])
		if c, _, err := root.Find(words[1:]); err != nil || c == root || !strings.Contains(out.String(), step[0]) {
			t.Errorf("%q is no command, or is not said: %v", step[0], err)
		}
	}
	for _, line := range strings.Split(out.String(), "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("%q is wider than 80 columns", line)
		}
	}
}
