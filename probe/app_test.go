package probe

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

func TestSplitApp(t *testing.T) {
	for text, want := range map[string]struct {
		host       string
		parameters values
	}{
		"dns://192.0.2.53/www.example.org?type=AAAA": {"192.0.2.53", values{"scheme": "dns", "name": "www.example.org", "type": "AAAA"}},
		"dns://[2001:db8::53]:5353":                  {"2001:db8::53", values{"scheme": "dns", "port": 5353}},
		"dns://ns/":                                  {"ns", values{"scheme": "dns"}},
		"ntp://clock":                                {"clock", values{"scheme": "ntp"}},
		"http://carol:8080/a?b=c":                    {"carol", values{"scheme": "http", "port": 8080, "path": "/a?b=c"}},
		"https://carol/":                             {"carol", values{"scheme": "https"}},
		"tls://carol:853?name=dns.example":           {"carol", values{"scheme": "tls", "port": 853, "name": "dns.example"}},
		"smtp://mx:587":                              {"mx", values{"scheme": "smtp", "port": 587}},
		"radius://aaa?secret=/etc/secret":            {"aaa", values{"scheme": "radius", "secret": "/etc/secret"}},
		"dns://ns/a?class=CH":                        {},
		"dns://ns/a?type=A&type=MX":                  {},
		"ntp://clock/path":                           {},
		"smtp://mx?name=x":                           {},
		"ftp://carol/":                               {},
		"http://me:secret@carol/":                    {},
		"https://carol/#part":                        {},
		"tls://carol:0":                              {},
		"tls://":                                     {},
		"dns:www.example.org":                        {},
	} {
		host, parameters, err := SplitApp(text)
		if host != want.host || input.Bad(err) != (want.host == "") || !cmp.Equal(values(parameters), want.parameters) {
			t.Errorf("%q: %q, %v, %v; want %q, %v", text, host, parameters, err, want.host, want.parameters)
		}
	}
}

// What a URL says is what a Task may have.
func FuzzSplitApp(f *testing.F) {
	for _, text := range []string{"dns://a/b?type=MX", "https://a:1/b?c", "radius://[::1]:1812?secret=x", "ntp://a", "tls://a?name=b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		host, parameters, err := SplitApp(text)
		if err != nil {
			return
		}
		task := measure.Task{Kind: "app", Target: host, Parameters: parameters}
		if _, err := New(task, Options{}); err != nil && !input.Bad(err) {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// What cannot be is refused by name, before anything is sent.
func TestAppValidate(t *testing.T) {
	for _, c := range []struct {
		want string
		app  App
	}{
		{"", App{Target: "a"}},
		{"", App{Target: "a", Scheme: "dns", Name: strings.Repeat("x", 63) + ".org", Type: "MX"}},
		{"", App{Target: "a", Scheme: "radius", Secret: "file"}},
		{"target", App{}},
		{"scheme", App{Target: "a", Scheme: "ftp"}},
		{"name", App{Target: "a", Scheme: "ntp", Name: "b"}},
		{"name", App{Target: "a", Scheme: "dns", Name: strings.Repeat("x", 64) + ".org"}},
		{"name", App{Target: "a", Scheme: "dns", Name: "a..b"}},
		{"name", App{Target: "a", Scheme: "dns", Name: strings.Repeat("abc.", 64)}},
		{"name", App{Target: "a", Name: "b/c"}},
		{"type", App{Target: "a", Scheme: "smtp", Type: "A"}},
		{"path", App{Target: "a", Scheme: "tls", Path: "/"}},
		{"path", App{Target: "a", Path: "/ /"}},
		{"secret", App{Target: "a", Scheme: "radius"}},
		{"secret", App{Target: "a", Scheme: "dns", Secret: "file"}},
		{"port", App{Target: "a", Port: 65536}},
		{"interval", App{Target: "a", Interval: time.Millisecond}},
		{"interval", App{Target: "a", Interval: 10 * time.Millisecond, Timeout: 6 * time.Second}},
		{"timeout", App{Target: "a", Timeout: 2 * time.Minute}},
	} {
		err := c.app.Validate()
		if c.want == "" && err != nil || c.want != "" && (!input.Bad(err) || !strings.HasPrefix(err.Error(), c.want+" ")) {
			t.Errorf("%+v: %v, want %s", c.app, err, c.want)
		}
	}
}

// The root has name servers and no address, and each scheme has a port.
func TestAppDefaults(t *testing.T) {
	for _, c := range []struct {
		app  App
		port int
		name string
		kind string
		path string
	}{
		{App{Target: "a"}, 80, "a", "", "/"},
		{App{Target: "a", Scheme: "https", Path: "x", Name: "b"}, 443, "b", "", "/x"},
		{App{Target: "a", Scheme: "dns"}, 53, ".", "NS", ""},
		{App{Target: "a", Scheme: "dns", Name: "b"}, 53, "b", "A", ""},
		{App{Target: "a", Scheme: "ntp"}, 123, "", "", ""},
		{App{Target: "a", Scheme: "radius"}, 1812, "", "", ""},
		{App{Target: "a", Scheme: "smtp", Port: 587}, 587, "", "", ""},
		{App{Target: "a", Scheme: "tls"}, 443, "a", "", ""},
	} {
		got := c.app.withDefaults()
		if got.Port != c.port || got.Name != c.name || got.Type != c.kind || got.Path != c.path {
			t.Errorf("%+v: port %d, name %q, type %q, path %q", c.app, got.Port, got.Name, got.Type, got.Path)
		}
	}
}

// What is planned is the time until the last request is lost, and bytes by the scheme.
func TestAppDemand(t *testing.T) {
	p := App{Target: "a", Scheme: "ntp", Count: 11, Interval: 500 * time.Millisecond, Timeout: 2 * time.Second}
	if diff := cmp.Diff(measure.Demand{DurationSeconds: 7, Bytes: 11 * 228, BitsPerSecond: 8 * 114 / .5}, p.demand()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.bound()
	if p.Deadline != 5500*time.Millisecond {
		t.Errorf("the last request begins by %v", p.Deadline)
	}
	fast := App{Target: "a", Interval: 10 * time.Millisecond}
	if d := fast.demand(); !d.Exclusive || d.BitsPerSecond != 8*16e3/.01 {
		t.Errorf("a hundred pages a second: %+v", d)
	}
}
