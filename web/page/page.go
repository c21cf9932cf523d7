// Package page holds the pages: static files, embedded as they are, and the handler that serves them.
//
// There is no build step and no template. index.html loads ES modules, which ask the API (package web) for everything that they
// show, by URLs relative to the page, so that a proxy may serve all of it under a path of its own. Nothing here knows of
// the mesh, and nothing of the mesh is in what is served: who may see what is the API's to say.
//
//	static/          what every page stands on: routes, API client, formats, times, settings, the frame
//	static/overview  the matrix of all pairs, and the lists beside it
//	static/pair      graphs of one pair
//	static/result    one Result, whole
//	static/test      a test or a diagnosis, now
//	static/hosts     all hosts, and one
//	static/calc      the calculators, with their drawings
//	static/knowledge what findings, metrics, formulas, faults and terms mean
//	static/config    the mesh file: checked editing, history, undo
//	static/people    accounts, tokens, the audit log
//	static/lab       labs of the controller's machine: drawing, form of a link, test
//	static/vendor    other people's code, pinned
//
// package.json is for the type check alone: see README.md beside it.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed static/*.html static/*.css static/*.svg static/*.js static/*/*.js static/vendor/*.mjs static/*/*.css static/vendor/*.txt
var files embed.FS

// kinds are the files that are served, by their suffix.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
}

// Policy is the content security policy of the pages: nothing but their own files, nothing inline, in nobody's frame.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'self'"

// headers are on every answer. no-cache lets browsers keep a file, and has them ask by its ETag whether it is still that.
var headers = map[string]string{
	"Cache-Control":                "no-cache",
	"Content-Security-Policy":      Policy,
	"Cross-Origin-Embedder-Policy": "require-corp",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Referrer-Policy":              "no-referrer",
	"Vary":                         "Accept-Encoding",
	"X-Content-Type-Options":       "nosniff",
}

// file is one file as it is sent.
type file struct {
	kind string
	as   [2]body // plain, and compressed
}

type body struct {
	text []byte
	etag string
}

// Handler serves the pages at "/" and their files beside it, and nothing else: what is not there is 404, whatever its path
// looks like. It compresses each file once.
func Handler() http.Handler {
	served := map[string]file{}
	_ = fs.WalkDir(files, "static", func(name string, entry fs.DirEntry, err error) error {
		kind, known := kinds[path.Ext(name)]
		if err != nil || entry.IsDir() || !known {
			return nil
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil // it is embedded: it can be read
		}
		served[strings.TrimPrefix(name, "static")] = newFile(kind, text)
		return nil
	})
	served["/"+tableName] = newFile(kinds[".js"], metricTable())
	served["/"] = served["/index.html"]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		f, known := served[r.URL.Path]
		switch {
		case !known:
			http.Error(w, "there is no such page; begin at the front page", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "pages are only read", http.StatusMethodNotAllowed)
		default:
			f.serve(w, r)
		}
	})
}

func newFile(kind string, text []byte) file {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // a level that there is
	_, _ = w.Write(text)                                       // to memory
	_ = w.Close()
	sum := sha256.Sum256(text)
	tag := base64.RawURLEncoding.EncodeToString(sum[:12])
	// What is strong about an ETag is that equal ones are equal bytes, so each encoding has its own.
	return file{kind, [2]body{{text, `"` + tag + `"`}, {packed.Bytes(), `"` + tag + `-gzip"`}}}
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	b := f.as[0]
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		b = f.as[1]
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("ETag", b.etag)
	for tag := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == b.etag || tag == "*" {
			w.Header().Del("Content-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(b.text)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(b.text) // to a client that is gone
	}
}

// takesGzip reads an Accept-Encoding header: what it says of gzip, or else of any coding.
func takesGzip(accept string) (takes bool) {
	for coding := range strings.SplitSeq(accept, ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if name = strings.TrimSpace(name); name != "gzip" && name != "*" {
			continue
		}
		_, q, weighed := strings.Cut(weight, "q=")
		value, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		takes = !weighed || err == nil && value > 0
		if name == "gzip" {
			break
		}
	}
	return takes
}
