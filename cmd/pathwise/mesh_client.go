package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/input"
)

// controller is the controller on this machine, spoken to through the socket in its folder; or one elsewhere, by its URL.
type controller struct {
	data  string
	http  http.Client
	url   string // "": on this machine
	ca    string // file of certificates that sign its own; "": those of the system
	token string // file of the caller's token; "": see tokenVariable
}

// tokenVariable is the environment variable of a caller's token. Command lines are for all to see, so that none takes one.
const tokenVariable = "PATHWISE_TOKEN"

// controllerFlag adds the flag that says where the controller's folder is.
func controllerFlag(flags *pflag.FlagSet) *controller {
	c := &controller{}
	folderFlag(flags, &c.data)
	c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(c.data, controlSocket))
	}}
	return c
}

// folderFlag adds the flag that names the folder of the controller on this machine.
func folderFlag(flags *pflag.FlagSet, data *string) {
	flags.StringVar(data, "data", "/var/lib/pathwise", "the controller's folder")
}

// notAFolder says that --data names nothing that could be a controller's.
func notAFolder(data string) error {
	return badFlag("data", fmt.Errorf("%q: want the folder of a controller", data))
}

// remoteFlags adds the flags of a command that a controller elsewhere answers, too.
func (c *controller) remoteFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.url, "controller", "", "the URL of a controller elsewhere, such as https://mesh.example.org:8080")
	flags.StringVar(&c.ca, "ca-file", "", "certificates that sign that controller's (default: those of the system)")
}

// tokenFlag adds the flag that names the file of a token.
func (c *controller) tokenFlag(flags *pflag.FlagSet) {
	flags.StringVar(&c.token, "token-file", "", "the file of your token for that controller (default: what "+tokenVariable+" holds)")
}

// base is what all paths come after. A controller elsewhere is prepared for on the way.
func (c *controller) base() (string, error) {
	if c.url == "" {
		return "http://controller", nil
	}
	u, err := url.Parse(c.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", badFlag("controller", fmt.Errorf("%q: want a URL such as https://mesh.example.org:8080", c.url))
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.ca != "" {
		text, err := os.ReadFile(c.ca)
		pool := x509.NewCertPool()
		if err == nil && !pool.AppendCertsFromPEM(text) {
			err = fmt.Errorf("%s: want PEM certificates", c.ca)
		}
		if err != nil {
			return "", badFlag("ca-file", err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	c.http.Transport = transport
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // the token is for c.url
	return strings.TrimSuffix(c.url, "/"), nil
}

// authorize adds the caller's token to a request for a controller elsewhere.
func (c *controller) authorize(request *http.Request) error {
	if c.url == "" {
		if c.token != "" {
			return badFlag("token-file", errors.New("want --controller as well; the one on this machine needs no token"))
		}
		return nil
	}
	token := os.Getenv(tokenVariable)
	if c.token != "" {
		text, err := os.ReadFile(c.token)
		if err != nil {
			return badFlag("token-file", err)
		}
		token = string(text)
	}
	if token = strings.TrimSpace(token); token == "" && request.Method == http.MethodGet {
		return nil // which a controller may let anybody do
	} else if token == "" {
		return badFlag("token-file", fmt.Errorf("want the file of your token, or the token in %s", tokenVariable))
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return badFlag("token-file", errors.New("want one line, as `pathwise mesh token` printed it"))
	}
	if request.URL.Scheme == "http" && !isLoopback(request.URL.Hostname()) {
		return badFlag("controller", errors.New("want https: over http the token would be for all on the way to read"))
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return nil
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// errNoController says that no controller answers.
var errNoController = errors.New("no controller runs here; start one with `pathwise serve`, or name its folder with --data")

// call asks for a path, with a body that is sent as JSON unless it is nil. The answer's body is to be closed; what the
// controller refuses is an error.
func (c *controller) call(ctx context.Context, method, path string, query url.Values, body any) (io.ReadCloser, error) {
	var text io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("ask controller: %w", err)
		}
		text = bytes.NewReader(encoded)
	}
	base, err := c.base()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, base+"/api/v1/"+path+"?"+query.Encode(), text)
	if err != nil {
		return nil, fmt.Errorf("ask controller: %w", err)
	}
	if err := c.authorize(request); err != nil {
		return nil, err
	}
	answer, err := c.http.Do(request)
	switch {
	case err != nil && c.url != "":
		return nil, fmt.Errorf("ask controller: %w", err) // names the URL
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED):
		return nil, fmt.Errorf("%s: %w", c.data, errNoController)
	case errors.Is(err, unix.ENOTDIR):
		return nil, notAFolder(c.data)
	case err != nil:
		return nil, fmt.Errorf("ask controller: %w", err)
	case answer.StatusCode == http.StatusOK:
		return answer.Body, nil
	}
	defer answer.Body.Close()
	return nil, refusalOf(answer)
}

// refusalOf is why the controller did not do it.
func refusalOf(answer *http.Response) error {
	var problem struct { // RFC 9457
		Detail string `json:"detail"`
		Errors []struct {
			Message  string `json:"message"`
			Location string `json:"location"`
		} `json:"errors"`
	}
	if json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&problem) != nil || problem.Detail == "" {
		problem.Detail = strings.ToLower(answer.Status)
	}
	for _, e := range problem.Errors {
		problem.Detail += fmt.Sprintf("; %s: %s", e.Location, e.Message)
	}
	err := errors.New(problem.Detail)
	if answer.StatusCode == http.StatusBadRequest || answer.StatusCode == http.StatusUnprocessableEntity {
		return input.Errorf("%w", err)
	}
	return err
}

// get asks for a document.
func (c *controller) get(ctx context.Context, path string, query url.Values, doc any) error {
	body, err := c.call(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(doc); err != nil {
		return fmt.Errorf("read the controller's answer: %w", err)
	}
	return nil
}
