package config

import (
	"net/url"
	"regexp"
	"strings"
)

// readRemoteWrites reads where metrics are pushed to: URLs, or mappings.
func readRemoteWrites(n node, c *Controller) {
	names := map[string]bool{}
	for _, item := range n.items() {
		w := readRemoteWrite(item)
		if w.Name != "" && names[w.Name] {
			item.fail(w.Name, "a name of its own for each receiver")
		}
		names[w.Name] = true
		c.RemoteWrite = append(c.RemoteWrite, w)
	}
}

func readRemoteWrite(n node) (w RemoteWrite) {
	parse := parseURL("https://prometheus.example.org/api/v1/write", "http", "https")
	if n.isScalar() {
		if value(n, &w.URL, parse) && strings.Contains(w.URL, "@") {
			n.fail(hidePassword(w.URL), "a URL without user and password, which have keys of their own")
		}
		return w
	}
	given := n.fields("{url: https://prometheus.example.org/api/v1/write}", fields{
		"name": into(&w.Name, parseName), "url": into(&w.URL, parse), "user": into(&w.User, parseUser),
		"password_file": into(&w.Password, parseText), "token_file": into(&w.TokenFile, parseText),
		"ca_file": into(&w.CAFile, parseText), "headers": func(n node) { w.Headers = readHeaders(n) },
	})
	has := func(key string) bool { _, has := given[key]; return has }
	u, err := url.Parse(w.URL)
	switch {
	case !has("url"):
		n.fail("", "url as well")
	case err != nil: // said already
	case u.User != nil:
		given["url"].fail(hidePassword(w.URL), "a URL without user and password, which have keys of their own")
	case has("user") != has("password_file"):
		n.fail("", "user and password_file together, or neither")
	case has("user") && has("token_file"):
		given["token_file"].fail("", "either user and password_file, or token_file")
	case has("ca_file") && u.Scheme == "http":
		given["ca_file"].fail(w.CAFile, "ca_file only with a URL that is https")
	}
	return w
}

func parseUser(s string) (string, error) {
	if _, err := parseText(s); err != nil || strings.Contains(s, ":") {
		return "", bad(s, "a user's name without a colon")
	}
	return s, nil
}

// headerPattern is the name of a header (RFC 9110, 5.6.2).
var headerPattern = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// taken are headers that remote write sets itself, in small letters.
var taken = map[string]bool{
	"content-encoding": true, "content-type": true, "content-length": true, "host": true, "x-prometheus-remote-write-version": true,
}

// readHeaders reads headers, such as the tenant that Mimir and Cortex ask for. Their values may be secrets, so that no error
// shows them.
func readHeaders(n node) map[string]string {
	all := map[string]string{}
	for _, e := range n.entries("{X-Scope-OrgID: pathwise}") {
		if !headerPattern.MatchString(e.key) || taken[strings.ToLower(e.key)] {
			e.at.fail(e.key, "the name of a header that remote write does not set itself, such as X-Scope-OrgID")
			continue
		}
		if text, ok := e.value.scalar("one value"); ok && !strings.ContainsAny(text, "\r\n\x00") {
			all[e.key] = text
		} else if ok {
			e.value.fail("", "one line")
		}
	}
	return all
}

// Label is what a receiver is called in metrics and logs: its name, or else its host, or its URL where another has that host.
func (w *RemoteWrite) Label(all []RemoteWrite) string {
	if w.Name != "" {
		return w.Name
	}
	host := hostOfURL(w.URL)
	same := 0
	for i := range all {
		if all[i].Name == host || all[i].Name == "" && hostOfURL(all[i].URL) == host {
			same++
		}
	}
	if same > 1 {
		return w.URL
	}
	return host
}

func hostOfURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	return u.Host
}
