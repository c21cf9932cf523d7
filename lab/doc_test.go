package lab

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab/link"
)

// What docs/lab-file.md shows of links and routers can be said in a lab file.
func TestLabFilePage(t *testing.T) {
	text, err := os.ReadFile("../docs/lab-file.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n## Links\n")
	links, rest, found2 := strings.Cut(rest, "\n## Routers\n")
	routers, _, _ := strings.Cut(rest, "\n## Cross traffic\n")
	if !found || !found2 {
		t.Fatal("the page has lost its sections")
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+): (.*?)` \\|")
	for _, m := range rows.FindAllStringSubmatch(links, -1) {
		if m[1] == "trace" && !strings.Contains(m[2], "opportunities") {
			continue // a file that is not here
		}
		if _, _, err := link.ParseSetting(m[1] + "=" + m[2]); err != nil {
			t.Errorf("%s: %s: %v", m[1], m[2], err)
		}
	}
	for _, m := range rows.FindAllStringSubmatch(routers, -1) {
		spec := "hosts: {a: {}}\nrouters: {r: {" + m[1] + ": " + m[2] + "}, isp: {}}\nlinks: [{between: [a, r]}, {between: [r, isp]}]\n"
		if _, err := ParseSpec("page.yaml", []byte(spec)); err != nil {
			t.Errorf("%s: %s: %v", m[1], m[2], err)
		}
	}
	if n := len(rows.FindAllString(links, -1)) + len(rows.FindAllString(routers, -1)); n < 40 {
		t.Errorf("only %d rows with examples", n)
	}
	for _, key := range link.Keys() {
		if !strings.Contains(links, "`"+key+": ") {
			t.Errorf("the page does not show %s", key)
		}
	}
}
