package main

import (
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestFolded(t *testing.T) {
	for _, c := range []struct{ name, give, want string }{
		{"fits", "a line of 20 columns", "a line of 20 columns"},
		{"a paragraph", "a line that is longer than that", "a line that is longer\nthan that"},
		{"indented", "  pathwise diagnose carol --json", "  pathwise diagnose\n  carol --json"},
		{"a flag", "  -t, --t  how long it is", "  -t, --t  how long it\n           is"},
		{"a table whose last column is narrow", "one  two  three four five six", "one  two  three four\n          five six"},
		{"a column too far right", "a name that is long  x and y", "a name that is long  x\nand y"},
		{"a long word", "a sysctl.net.ipv4.tcp_congestion_control word", "a\nsysctl.net.ipv4.tcp_congestion_control\nword"},
		{"a drawing as wide as the screen", "a │::: :: :::: ::: ::│\nb", "a │::: :: :::: ::: ::│\nb"},
		{"nothing", "\n\n", "\n\n"},
	} {
		if diff := cmp.Diff(c.want, folded(c.give, 22)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	coloured := folded("\x1b[1mone\x1b[m  two \x1b[31mthree four five\x1b[m six", 14)
	if got := ansi.Strip(coloured); got != "one  two three\n     four five\n     six" {
		t.Errorf("coloured: %q", got)
	}
}

// On a terminal of 80 columns no help is wider, and a diagnosis has each of its flags once, in a group.
func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"help diagnose", "--help", "calc", "explain --all", "explain", "help lab up"} {
		lines, _, err := onTerminal(t, 80, 1500, "", nil, strings.Fields(args)...)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > 80 {
				t.Errorf("%s: %q", args, line)
			}
		}
		if args == "help diagnose" {
			showsInOrder(t, lines, `^What is measured:$`, `^  -t, --time time  `, `^The program that is slow:$`, `--program int`, `^Of a mesh:$`, `^Other flags:$`, `^  -h, --help`)
			if all := strings.Join(lines, "\n"); strings.Count(all, " --budget string ") != 1 || strings.Contains(all, "(default )") {
				t.Errorf("a flag twice, or an empty default:\n%s", all)
			}
		}
	}
}

// An overview in place of hundreds of names; a formula without inputs says what it wants, and takes them as NAME=VALUE.
func TestFirstAnswers(t *testing.T) {
	for _, c := range []struct {
		args, out, err string
		status         int
	}{
		{"explain", "pathwise explain --all  ", "", exitDone},
		{"calc mathis", "", "pathwise: mathis: wants --rtt, --loss, such as pathwise calc mathis --rtt 50ms --loss 0.01%\n", exitBadCall},
		{"calc mathis loss=2% rtt=30ms", "(1.91 Mbit/s)", "", exitDone},
		{"calc mathis loss=2% rt=30ms", "", `"rt=30ms": no input of mathis, which has --`, exitBadCall},
		{"calc mathis --loss 2% loss=2%", "", `--loss: "2%": it is given twice`, exitBadCall},
		{"calc mathis 2%", "", `"2%": no input of mathis`, exitBadCall},
	} {
		var out, said strings.Builder
		status := run(strings.Fields(c.args), strings.NewReader(""), &out, &said)
		if status != c.status || !strings.Contains(out.String(), c.out) || !strings.Contains(said.String(), c.err) || c.err == "" && said.Len() > 0 {
			t.Errorf("%s: status %d, printed %q, said %q", c.args, status, out.String(), said.String())
		}
	}
	var out strings.Builder
	if run([]string{"explain"}, nil, &out, io.Discard); strings.Count(out.String(), "\n") > 20 {
		t.Errorf("the overview has more than 20 lines:\n%s", out.String())
	}
}
