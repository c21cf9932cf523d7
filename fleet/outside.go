package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/pathwise-net/pathwise/input"
)

// Outside is a NATS cluster that somebody else runs. It is best given an account of its own.
type Outside struct {
	URL         string // tls://HOST:PORT or nats://HOST:PORT, several with commas
	Credentials string // file of a user's JWT and seed; "": Nkey
	Nkey        string // file of a user's seed; "": the keyring's, as ServerSnippet names it
	CA          string // file of authorities in PEM; "": those of the system
	Cert, Key   string // files of a client's certificate; "": none
}

// Validate checks what a user may have given.
func (o *Outside) Validate() error {
	if o.URL == "" {
		return input.Errorf("nats: url: it is empty; such as tls://nats.example.org:4222")
	}
	for u := range strings.SplitSeq(o.URL, ",") {
		if s, _, ok := strings.Cut(u, "://"); !ok || !slices.Contains([]string{"nats", "tls"}, s) {
			return input.Errorf("nats: url: %q begins with neither tls:// nor nats://", u)
		}
	}
	if o.Credentials != "" && o.Nkey != "" {
		return input.Errorf("nats: credentials and nkey: name one of them")
	}
	if (o.Cert == "") != (o.Key == "") {
		return input.Errorf("nats: cert and key: name both or neither")
	}
	return nil
}

func (o *Outside) options(k *Keyring) (all []nats.Option, err error) {
	switch {
	case o.Credentials != "":
		all = append(all, nats.UserCredentials(o.Credentials))
	case o.Nkey != "":
		option, err := nats.NkeyOptionFromSeed(o.Nkey)
		if err != nil {
			return nil, input.Errorf("nats: nkey: %s: %v", o.Nkey, err)
		}
		all = append(all, option)
	default:
		all = append(all, withKey(k.login, k.public.Login))
	}
	if o.CA != "" {
		all = append(all, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		all = append(all, nats.ClientCert(o.Cert, o.Key))
	}
	return all, nil
}

// Dial opens a connection to the first of its servers that answers, for an agent behind SSH, which does the rest itself.
func (o *Outside) Dial(ctx context.Context) (net.Conn, error) {
	var failed error
	for u := range strings.SplitSeq(o.URL, ",") {
		_, address, _ := strings.Cut(u, "://")
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(address, "4222") // NATS's own
		}
		c, err := (&net.Dialer{Timeout: handshakeTime}).DialContext(ctx, "tcp", address)
		if err == nil {
			return c, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, fmt.Errorf("reach the NATS cluster: %w", failed)
}

// Reach is how agents find the same cluster.
func (o *Outside) Reach() (Reach, error) {
	r := Reach{URLs: strings.Split(o.URL, ",")}
	if o.CA == "" {
		return r, nil
	}
	data, err := os.ReadFile(o.CA)
	if err != nil {
		return r, fmt.Errorf("read authorities of the NATS cluster: %w", err)
	}
	r.CA = string(data)
	return r, nil
}

// ServerSnippet is the part of a NATS server's configuration that gives controller and agents an account of their own,
// and each its rights.
func ServerSnippet(controller ControllerKeys, agents map[string]AgentKeys) string {
	var b strings.Builder
	b.WriteString("accounts {\n  PATHWISE {\n    users: [\n")
	writeUser(&b, "controller", controller.Login, ControllerPermissions())
	for _, host := range slices.Sorted(maps.Keys(agents)) {
		writeUser(&b, token(host), agents[host].Login, AgentPermissions(host))
	}
	b.WriteString("    ]\n  }\n}\n")
	return b.String()
}

func writeUser(b *strings.Builder, name, key string, p Permissions) {
	fmt.Fprintf(b, "      { # %s\n        nkey: %s\n        permissions: {\n", name, key)
	fmt.Fprintf(b, "          publish: [%s]\n", quoted(p.Publish))
	fmt.Fprintf(b, "          subscribe: [%s]\n", quoted(p.Subscribe))
	if p.Answers {
		b.WriteString("          allow_responses: {max: 1, expires: \"1m\"}\n")
	}
	b.WriteString("        }\n      }\n")
}

func quoted(subjects []string) string {
	q := make([]string, len(subjects))
	for i, s := range subjects {
		q[i] = fmt.Sprintf("%q", s)
	}
	return strings.Join(q, ", ")
}
