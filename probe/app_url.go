package probe

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/input"
)

// SplitApp reads the URL of a service, and returns its host and what else it says, as parameters of the kind app:
//
//	dns://SERVER[:PORT]/NAME[?type=TYPE]     http://HOST[:PORT]/PATH     ntp://HOST[:PORT]     radius://HOST[:PORT]?secret=FILE
//	tls://HOST[:PORT][?name=NAME]            https://HOST[:PORT]/PATH    smtp://HOST[:PORT]
func SplitApp(text string) (host string, parameters map[string]any, err error) {
	bad := func(remedy string) (string, map[string]any, error) {
		return "", nil, &input.Error{Field: "URL", Value: text, Remedy: remedy}
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return bad("give a URL such as dns://192.0.2.53/example.org or https://example.org/")
	}
	at := slices.IndexFunc(appSchemes(), func(s appScheme) bool { return s.name == u.Scheme })
	if at < 0 {
		return bad("give a URL of " + oneOf(appSchemeNames()))
	}
	parameters = map[string]any{"scheme": u.Scheme}
	if u.Port() != "" {
		port, err := strconv.Atoi(u.Port())
		if err != nil || port < 1 || port > 65535 {
			return bad("give a port from 1 to 65535")
		}
		parameters["port"] = port
	}
	takes := appSchemes()[at].takes
	if slices.Contains(takes, "path") { // what follows the ? is the server's
		if path := u.RequestURI(); path != "/" {
			parameters["path"] = path
		}
		return u.Hostname(), parameters, nil
	}
	if path := strings.TrimPrefix(u.Path, "/"); path != "" && u.Scheme == schemeDNS {
		parameters["name"] = path
	} else if path != "" {
		return bad("of " + u.Scheme + " nothing comes after the host; leave it out")
	}
	for name, values := range u.Query() {
		if !slices.Contains(takes, name) || len(values) != 1 || values[0] == "" {
			return bad(strings.TrimSpace("after the host of " + u.Scheme + " give at most ?" + strings.Join(takes, " or ") + "=…"))
		}
		parameters[name] = values[0]
	}
	return u.Hostname(), parameters, nil
}
