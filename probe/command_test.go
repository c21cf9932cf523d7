package probe

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A value stays in its argument, and makes no option of it.
func TestFill(t *testing.T) {
	all := map[string]string{"target": "10.0.0.2", "file": "/data/a b; rm -rf *", "evil": "-oProxyCommand=x", "empty": "", "zero": "a\x00b",
		"brace": "{target}", "target.path": "/incoming"}
	cases := []struct {
		in   []string
		want []string
		err  string
	}{
		{[]string{"bbcp", "-P", "2", "{file}", "{target}:{target.path}"},
			[]string{"bbcp", "-P", "2", "/data/a b; rm -rf *", "10.0.0.2:/incoming"}, ""},
		{[]string{"curl", "-w", "%{{speed_upload}}", "{brace}", "{}", "{X}"}, []string{"curl", "-w", "%{speed_upload}", "{target}", "{}", "{X}"}, ""},
		{[]string{"a", "--file={evil}", "-{evil}", "", "x{evil}"}, []string{"a", "--file=-oProxyCommand=x", "--oProxyCommand=x", "", "x-oProxyCommand=x"}, ""},
		{[]string{"a", "{evil}"}, nil, `{evil} "-oProxyCommand=x": a value cannot begin an option; write the "-" into argv`},
		{[]string{"a", "{empty}{evil}"}, nil, `{empty}{evil} "-oProxyCommand=x": a value cannot begin an option; write the "-" into argv`},
		{[]string{"a", "{empty}-x"}, nil, `{empty}-x "-x": a value cannot begin an option; write the "-" into argv`},
		{[]string{"a", "{empty}"}, nil, `{empty} "": give it a value`},
		{[]string{"a", "{zero}"}, nil, `zero "a\x00b": leave out the zero byte`},
		{[]string{"a", "{port}"}, nil, `port "": this run has no value for {port}`},
	}
	for _, c := range cases {
		got, err := fill(c.in, all)
		if diff := cmp.Diff(c.want, got); diff != "" || text(err) != c.err || err != nil && !blamesCaller(err) {
			t.Errorf("%q: error %v, want %q (-want +got):\n%s", c.in, err, c.err, diff)
		}
	}
}

func FuzzFill(f *testing.F) {
	f.Add("{x}:{y}", "-a", "b")
	f.Add("--x={x}", "-a", "")
	f.Add("{{x}}{x}", "{y}", "}")
	f.Fuzz(func(t *testing.T, argument, x, y string) {
		got, err := fill([]string{"a", argument, "end"}, map[string]string{"x": x, "y": y})
		if err != nil {
			return
		}
		option := strings.HasPrefix(got[1], "-") && !strings.HasPrefix(argument, "-")
		if len(got) != 3 || got[0] != "a" || got[2] != "end" || option || strings.Contains(got[1], "\x00") && !strings.Contains(argument, "\x00") {
			t.Errorf("%q with %q and %q became %q", argument, x, y, got)
		}
	})
}

// The beginning and the end are kept, whatever the sizes of the writes; lines come whole.
func TestKeeper(t *testing.T) {
	const most = 10
	cases := []struct {
		in        string
		want      string
		forgotten int
	}{
		{"", "", 0},
		{"0123456789", "0123456789", 0},
		{"0123456789a", "01234\n[1 bytes are not kept]\n6789a", 1},
		{"0123456789abcdefghijklm", "01234\n[13 bytes are not kept]\nijklm", 13},
		{"01234567é", "01234567é", 0},
		{"\xff\xfe", "\uFFFD", 0},
	}
	for _, c := range cases {
		for step := 1; step <= len(c.in)+1; step++ {
			k := &keeper{most: most}
			for rest := c.in; rest != ""; rest = rest[min(step, len(rest)):] {
				if n, err := k.Write([]byte(rest[:min(step, len(rest))])); err != nil || n != min(step, len(rest)) {
					t.Fatal(n, err)
				}
			}
			if k.String() != c.want || k.forgotten() != c.forgotten {
				t.Errorf("%q by %d: kept %q and forgot %d, want %q and %d", c.in, step, k.String(), k.forgotten(), c.want, c.forgotten)
			}
		}
	}
}

func TestKeeperLines(t *testing.T) {
	in := "one\ntwo\r\nprogress 1%\rprogress 2%\r\x1b[31mred\n" + strings.Repeat("x", 2*longestLine) + "\nlast"
	want := []string{"one", "two", "progress 1%", "progress 2%", "[31mred", strings.Repeat("x", longestLine), "last"}
	for step := 1; step < 50; step += 7 {
		var got []string
		k := &keeper{most: KeptBytes, line: func(s string) { got = append(got, s) }}
		for rest := in; rest != ""; rest = rest[min(step, len(rest)):] {
			_, _ = k.Write([]byte(rest[:min(step, len(rest))]))
		}
		k.flush()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %d (-want +got):\n%s", step, diff)
		}
	}
}

func TestLastLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "\n \n": "", "one\ntwo\n\n": "two", "a\rb\r": "b", "\x1b[31mred": "[31mred", strings.Repeat("x", 300): strings.Repeat("x", 200) + "…",
	} {
		if got := lastLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
