package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/parse"
)

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/mesh-file.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheExampleOfThePage(t *testing.T) {
	_, rest, ok := strings.Cut(page(t), "```yaml mesh.yaml\n")
	text, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the page has no example")
	}
	m := parsed(t, text)
	if got, want := pairNames(m, "fast"), "ucl>ral ucl>dl"; got != want {
		t.Errorf("fast: %s, want %s", got, want)
	}
	if got, want := pairNames(m, "route@everybody"), "ucl>ral ucl>dl ucl>old ral>ucl ral>dl ral>old dl>ral dl>old"; got != want {
		t.Errorf("route: %s, want %s", got, want)
	}
}

func TestTheCallersOfThePage(t *testing.T) {
	_, rest, _ := strings.Cut(page(t), "```yaml mesh.yaml\n")
	example, rest, _ := strings.Cut(rest, "controller:\n")
	_, rest, ok := strings.Cut(rest, "```yaml\ncontroller:\n")
	callers, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the page has no callers")
	}
	c := parsed(t, example+"controller:\n"+callers).Controller
	if len(c.Callers.Classes) != 3 || len(c.Callers.Assign) != 3 || c.TLS.Key == "" || len(c.Callers.Classes["guests"].Sources) != 1 {
		t.Errorf("read %+v", c)
	}
}

// TestThePageNamesEveryKey asks each mapping for its keys by a key that none has.
func TestThePageNamesEveryKey(t *testing.T) {
	_, err := Parse([]File{{"", []byte(`
zz: 1
sites: {S: {zz: 1, budget: {zz: 1}}}
tools: {t: {zz: 1, probe: p, needs: {zz: 1}}, c: {command: x, parse: {a_seconds: {zz: 1}}}}
hosts: {h: {zz: 1, interfaces: {i: {zz: 1}}, reach: {ssh: {zz: 1}}, limits: {zz: 1}}}
schedules: {s: {zz: 1}}
groups: {g: {zz: 1}, s: {star: {zz: 1}}, t: {sides: {zz: 1}}}
tests: [{zz: 1, schedule: {zz: 1}}]
exclude: [{zz: 1}]
budgets: [{zz: 1}]
controller: {zz: 1, nats: {zz: 1}, retention: {zz: 1, rollups: {zz: 1}}, remote_write: {zz: 1}, tls: {zz: 1},
  callers: {zz: 1, classes: {c: {zz: 1}}, assign: [{zz: 1}]}}
`)}}, nil)
	lists := regexp.MustCompile(`"zz": want one of (.*)`).FindAllStringSubmatch(err.Error(), -1)
	if len(lists) != 27 {
		t.Fatalf("%d mappings told their keys; want 27:\n%v", len(lists), err)
	}
	text := page(t)
	for _, list := range lists {
		for _, key := range strings.Split(list[1], ", ") {
			if !regexp.MustCompile("[`{ ]" + key + "[`:]").MatchString(text) {
				t.Errorf("the page does not name %s", key)
			}
		}
	}
}

func TestEveryKeyOfARuleCanBeWritten(t *testing.T) {
	_, err := Parse([]File{{"", []byte("hosts: {a: 10.0.0.1}\ntools: {c: {command: x, parse: {a_seconds: {zz: 1}}}}")}}, nil)
	rule := reflect.TypeFor[parse.Rule]()
	for i := range rule.NumField() {
		key, _, _ := strings.Cut(rule.Field(i).Tag.Get("json"), ",")
		if key != "metric" && !strings.Contains(err.Error(), key) {
			t.Errorf("parse.Rule has %s, which a mesh file cannot say: %v", key, err)
		}
	}
}
