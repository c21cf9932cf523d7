package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
)

// controller is the controller on this machine, spoken to through the socket in its folder.
type controller struct {
	data string
	http http.Client
}

// controllerFlag adds the flag that says where the controller's folder is.
func controllerFlag(flags *pflag.FlagSet) *controller {
	c := &controller{}
	flags.StringVar(&c.data, "data", "/var/lib/pathwise", "the controller's folder")
	c.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(c.data, controlSocket))
	}}
	return c
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
	request, err := http.NewRequestWithContext(ctx, method, "http://controller/api/v1/"+path+"?"+query.Encode(), text)
	if err != nil {
		return nil, fmt.Errorf("ask controller: %w", err)
	}
	answer, err := c.http.Do(request)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED):
		return nil, fmt.Errorf("%s: %w", c.data, errNoController)
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
	var problem struct {
		Error string `json:"error"`
	}
	if json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&problem) != nil || problem.Error == "" {
		problem.Error = strings.ToLower(answer.Status)
	}
	err := errors.New(problem.Error)
	if answer.StatusCode == http.StatusBadRequest {
		return &badCall{err}
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
