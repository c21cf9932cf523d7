package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// tagged gives each JSON document that is read an ETag, and answers 304 to who has it already (RFC 9110, section 13.1.2). What
// streams passes through. It says of whatever the API answers who may keep it.
func tagged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/api/v1/config"): // may hold secrets
			w.Header().Set("Cache-Control", "no-store")
		case strings.HasPrefix(r.URL.Path, "/api/"):
			w.Header().Set("Cache-Control", "private, no-cache")
		}
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		held := &heldAnswer{ResponseWriter: w}
		next.ServeHTTP(held, r)
		held.end(r)
	})
}

// maxHeld is the largest answer that is held back for its tag: a matrix of 200 hosts is a megabyte.
const maxHeld = 4 << 20

// heldAnswer keeps an answer back until it is whole, or shows that it streams: by a flush, or by its size.
type heldAnswer struct {
	http.ResponseWriter
	status  int
	text    bytes.Buffer
	passing bool
}

// Unwrap lets a ResponseController find what is beneath.
func (h *heldAnswer) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h *heldAnswer) WriteHeader(status int) {
	if h.passing {
		h.ResponseWriter.WriteHeader(status)
	} else {
		h.status = status
	}
}

func (h *heldAnswer) Write(text []byte) (int, error) {
	if !h.passing && (h.text.Len()+len(text) > maxHeld || !isDocument(h.Header())) {
		h.pass()
	}
	if h.passing {
		return h.ResponseWriter.Write(text)
	}
	return h.text.Write(text)
}

// Flush sends what there is, and what follows as it comes.
func (h *heldAnswer) Flush() {
	h.pass()
	_ = http.NewResponseController(h.ResponseWriter).Flush() // the next write tells what is wrong
}

func isDocument(h http.Header) bool {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return kind == "application/json" || kind == openapiJSON
}

// pass lets through what was held, and all that follows.
func (h *heldAnswer) pass() {
	if h.passing {
		return
	}
	h.passing = true
	if h.status != 0 {
		h.ResponseWriter.WriteHeader(h.status)
	}
	if h.text.Len() > 0 {
		_, _ = h.ResponseWriter.Write(h.text.Bytes()) // the next write tells what is wrong
	}
}

// end answers with the whole, under its tag, or says that it is unchanged.
func (h *heldAnswer) end(r *http.Request) {
	if h.passing {
		return
	}
	h.status = cmp.Or(h.status, http.StatusOK)
	if h.status == http.StatusOK && isDocument(h.Header()) {
		sum := sha256.Sum256(h.text.Bytes())
		tag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"` // weak: it may be compressed on the way
		h.Header().Set("ETag", tag)
		if matches(r.Header.Get("If-None-Match"), tag) {
			h.Header().Del("Content-Type")
			h.Header().Del("Content-Length")
			h.ResponseWriter.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.pass()
}

// matches says whether a list of tags has one that means the same (RFC 9110, section 8.8.3.2).
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == strings.TrimPrefix(tag, "W/") && one != "" {
			return true
		}
	}
	return false
}
