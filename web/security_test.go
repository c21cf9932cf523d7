package web

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/web/labs"
)

// A body larger than any that makes sense is refused, wherever one is taken, and is not read to its end.
func TestOversized(t *testing.T) {
	b := newBench(t)
	b.run()
	b.serve(b.Handler(owner))
	huge := `{"name": "` + strings.Repeat("x", maxConfig) + `"}` // above every operation's own limit
	tried := 0
	b.eachBody(func(method, path string) {
		tried++
		body := huge
		if !strings.HasPrefix(path, "/api/v1/config") {
			body = huge[:2*maxBody]
		}
		b.expect(method, path, body, http.StatusRequestEntityTooLarge, "")
	})
	if tried < 8 {
		t.Errorf("%d operations take a body", tried)
	}
}

// eachBody calls back for each operation that takes a body, with a path that names nothing.
func (b *bench) eachBody(each func(method, path string)) {
	b.t.Helper()
	for path, item := range b.published()["paths"].(map[string]any) {
		for method, o := range item.(map[string]any) {
			if _, takes := o.(map[string]any)["requestBody"]; takes {
				each(strings.ToUpper(method), strings.NewReplacer("{", "", "}", "").Replace(path))
			}
		}
	}
}

// Nothing that a path can say leads to a file of the controller, or to a panic.
func TestPathsLeadNowhere(t *testing.T) {
	b := newBench(t)
	b.editing()
	b.Labs = &labs.Labs{}
	b.serve(b.Handler(owner)) // who may ask for all of it
	for _, path := range []string{
		"/../accounts.json", "/..%2faccounts.json", "/%2e%2e/%2e%2e/etc/passwd", "/static/../../web.go", "//etc/passwd", "/vendor/..\\..\\web.go",
		"/api/v1/../../accounts.json", "/api/v1/results/..%2f..%2faccounts.json", "/api/v1/pairs/..%2f..%2fetc/passwd/series",
		"/api/v1/config/history/..%2f..%2fplan.json", "/index.html%00.png", "/api/v1/labs/..%2f..%2fetc",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := c.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")); err != nil { // as no client library would send it
			t.Fatal(err)
		}
		text := new(strings.Builder)
		buffer := make([]byte, 64<<10)
		for {
			n, err := c.Read(buffer)
			text.Write(buffer[:n])
			if err != nil {
				break
			}
		}
		_ = c.Close()
		status, _, _ := strings.Cut(text.String(), "\r\n")
		if strings.Contains(status, " 200 ") || strings.Contains(status, " 5") || strings.Contains(text.String(), "root:") ||
			strings.Contains(text.String(), "package web") {
			t.Errorf("%s: %s", path, status)
		}
	}
}
