// Package page is the page that a responder shows to a browser: it runs a test of speed by ndt7 from there, and explains what came of it.
//
// It holds static files and their handler, and takes nothing from the network but tests of the server that it came from. The pages of a
// controller are another package (web/page).
package page

import (
	"embed"
	"net/http"
	"path"
)

//go:embed static
var files embed.FS

// kinds are the files that are served, by their suffix.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
}

// Policy is the content security policy: nothing but the page's own files and tests, nothing inline, in nobody's frame.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

var headers = map[string]string{
	"Cache-Control":                "no-cache",
	"Content-Security-Policy":      Policy,
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
}

// Handler serves the page at "/" and its files beside it. All else is 404.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		name := r.URL.Path
		if name == "/" {
			name = "/index.html"
		}
		text, err := files.ReadFile("static" + name)
		switch {
		case err != nil:
			http.Error(w, "there is no such page; the test is at /", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "pages are only read", http.StatusMethodNotAllowed)
		default:
			w.Header().Set("Content-Type", kinds[path.Ext(name)])
			_, _ = w.Write(text) // to a client that is gone
		}
	})
}
