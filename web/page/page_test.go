package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"
)

var handler = sync.OnceValue(Handler) // packing takes a moment

func ask(method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	r.URL.Path = target // as a path that no parser has cleaned
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	handler().ServeHTTP(w, r)
	return w
}

func TestServesItsFilesAlone(t *testing.T) {
	for _, c := range []struct {
		method, path string
		status       int
		kind         string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8"},
		{"GET", "/index.html", 200, "text/html; charset=utf-8"},
		{"HEAD", "/main.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/vendor/preact.mjs", 200, "text/javascript; charset=utf-8"},
		{"GET", "/vendor/licences.txt", 200, "text/plain; charset=utf-8"},
		{"GET", "/style.css", 200, "text/css; charset=utf-8"},
		{"GET", "/icon.svg", 200, "image/svg+xml"},
		{"POST", "/", 405, ""},
		{"GET", "", 404, ""}, {"GET", "/vendor", 404, ""}, {"GET", "/vendor/", 404, ""}, {"GET", "/vendor/README.md", 404, ""},
		{"GET", "/page.go", 404, ""}, {"GET", "/../page.go", 404, ""}, {"GET", "/vendor/../main.js", 404, ""},
		{"GET", "//main.js", 404, ""}, {"GET", "/static/main.js", 404, ""}, {"GET", "/MAIN.JS", 404, ""}, {"GET", "/main.js\x00", 404, ""},
	} {
		w := ask(c.method, c.path)
		if kind := w.Header().Get("Content-Type"); w.Code != c.status || c.kind != "" && kind != c.kind {
			t.Errorf("%s %q: %d %s, want %d %s", c.method, c.path, w.Code, kind, c.status, c.kind)
		}
		if c.method == "HEAD" && w.Body.Len() > 0 {
			t.Errorf("HEAD %s has a body", c.path)
		}
		for name, want := range headers {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %q: %s is %q, want %q", c.method, c.path, name, got, want)
			}
		}
	}
}

func TestCompressesAndTags(t *testing.T) {
	plain := ask("GET", "/main.js")
	for accept, packs := range map[string]bool{"": false, "gzip, br": true, "br;q=1, gzip;q=0.5": true, "gzip;q=0": false, "*": true, "*;q=0, gzip": true, "gzip;q=0, *": false, "br": false, "gzip;q=x": false} {
		w := ask("GET", "/main.js", "Accept-Encoding", accept)
		text := w.Body.Bytes()
		if packed := w.Header().Get("Content-Encoding") == "gzip"; packed != packs {
			t.Errorf("%q: packed %v, want %v", accept, packed, packs)
		} else if packed {
			r, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if text, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(text, plain.Body.Bytes()) {
			t.Errorf("%q: another text", accept)
		}
		if same := w.Header().Get("ETag") == plain.Header().Get("ETag"); same == packs {
			t.Errorf("%q: the ETag of two encodings is one", accept)
		}
		again := ask("GET", "/main.js", "Accept-Encoding", accept, "If-None-Match", `"x", W/`+w.Header().Get("ETag"))
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("ETag") != w.Header().Get("ETag") {
			t.Errorf("%q: asked again: %d with %d bytes", accept, again.Code, again.Body.Len())
		}
	}
	if w := ask("GET", "/main.js", "If-None-Match", `"x"`); w.Code != http.StatusOK {
		t.Errorf("another ETag: %d", w.Code)
	}
}

// maxWeight is what issue 5 allows all files together, compressed.
const maxWeight = 300_000

func TestWeight(t *testing.T) {
	total := 0
	each(t, func(name string, text []byte) {
		if path.Ext(name) != ".txt" { // licences: fetched by who wants to read them
			total += len(newFile("", text).as[1].text)
		}
	})
	t.Logf("all files are %d bytes, compressed", total)
	if total > maxWeight || total < 10_000 {
		t.Errorf("all files are %d bytes, compressed; want at most %d", total, maxWeight)
	}
}

func each(t *testing.T, do func(name string, text []byte)) {
	t.Helper()
	err := fs.WalkDir(files, "static", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := files.ReadFile(name)
		do(strings.TrimPrefix(name, "static/"), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	do(tableName, metricTable())
}

// What others wrote is as they published it.
func TestVendored(t *testing.T) {
	readme, err := os.ReadFile("static/vendor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	npm, err := os.ReadFile("package.json")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([a-z]+)/[^`]+` \\| ([0-9.]+) \\|.*`([0-9a-f]{64})` \\|$").FindAllSubmatch(readme, -1) {
		name, of, version, want := string(row[1]), string(row[2]), string(row[3]), string(row[4])
		text, err := files.ReadFile("static/vendor/" + name)
		if err != nil {
			t.Error(err)
		}
		if name == "hooks.mjs" {
			text = bytes.Replace(text, []byte(`"./preact.mjs"`), []byte(`"preact"`), 1)
		}
		if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the checksum %x, want %s", name, sum, want)
		}
		if !bytes.Contains(npm, []byte(`"`+of+`": "`+version+`"`)) {
			t.Errorf("package.json has another version of %s than %s", of, version)
		}
		seen[name] = true
	}
	each(t, func(name string, _ []byte) {
		if name, vendored := strings.CutPrefix(name, "vendor/"); vendored && name != "licences.txt" && !seen[name] {
			t.Errorf("vendor/README.md does not speak of %s", name)
		}
	})
}

var (
	imports = regexp.MustCompile(`(?m)(?: from|^import)\s*['"](\.[^'"]+)['"]`)
	later   = regexp.MustCompile(`=> import\('(\.[^']+)'\)`)
)

// reach adds a module, and what it imports by one of some ways, and so on.
func reach(t *testing.T, name string, ways []*regexp.Regexp, found map[string]bool) {
	t.Helper()
	if found[name] {
		return
	}
	found[name] = true
	text, err := files.ReadFile("static/" + name)
	if name == tableName {
		text, err = metricTable(), nil
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range ways {
		for _, m := range way.FindAllSubmatch(text, -1) {
			reach(t, path.Join(path.Dir(name), string(m[1])), ways, found)
		}
	}
}

// index.html fetches at once what the front page needs, so that no chain of imports delays the first paint, and no more; what is
// not needed there is fetched later, or not there; nothing names another host.
func TestFrontPageNamesWhatItNeeds(t *testing.T) {
	index, err := files.ReadFile("static/index.html")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"#]*)"`).FindAllSubmatch(index, -1) {
		named[string(m[1])] = true
	}
	first, all := map[string]bool{}, map[string]bool{}
	reach(t, "main.js", []*regexp.Regexp{imports}, first)
	reach(t, "main.js", []*regexp.Regexp{imports, later}, all)
	if len(first) < 20 || len(all) < 2*len(first) {
		t.Errorf("%d modules are imported at first, %d in all: is that read rightly?", len(first), len(all))
	}
	outside := regexp.MustCompile(`(?:import|from|fetch\(|url\(|src=|href=)\s*["'(]?(?:https?:)?//`)
	each(t, func(name string, text []byte) {
		kind := path.Ext(name)
		module := kind == ".mjs" || kind == ".js" && name != "theme.js"
		wanted := first[name] || !module && kind != ".html" && kind != ".txt"
		switch {
		case wanted && !named[name]:
			t.Errorf("index.html does not name %s", name)
		case !wanted && named[name]:
			t.Errorf("index.html names %s, which the front page does not need", name)
		case module && !all[name]:
			t.Errorf("nothing imports %s", name)
		}
		if at := outside.Find(text); at != nil && !strings.HasPrefix(name, "vendor/") {
			t.Errorf("%s names another host: %s", name, at)
		}
		delete(named, name)
	})
	for name := range named {
		t.Errorf("index.html names %s, which is not there", name)
	}
}
