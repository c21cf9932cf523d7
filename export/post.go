package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// post makes one request.
func (w *RemoteWriter) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.o.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	if err := w.authorize(req); err != nil {
		return err
	}
	resp, err := w.client.Do(req)
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err // without the URL, in which there may be a token
	}
	if err != nil {
		return fmt.Errorf("send samples: %w", err)
	}
	defer resp.Body.Close()
	const enough = 4096 // of what a receiver has to say; more than that is a page for people
	said, _ := io.ReadAll(io.LimitReader(resp.Body, enough))
	line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return verdict(resp.StatusCode, line, retryAfter(resp.Header.Get("Retry-After"), w.o.Now()))
}

func (w *RemoteWriter) authorize(req *http.Request) error {
	for name, text := range w.o.Headers {
		req.Header.Set(name, text)
	}
	req.Header.Set("Content-Encoding", "snappy")
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("X-Prometheus-Remote-Write-Version", "0.1.0") // what the specification 1.0 demands
	req.Header.Set("User-Agent", "pathwise/"+w.o.Version)
	switch {
	case w.o.User != "":
		password, err := w.o.Secrets.Read(w.o.PasswordFile)
		if err != nil {
			return fmt.Errorf("read password: %w", err)
		}
		req.SetBasicAuth(w.o.User, password)
	case w.o.TokenFile != "":
		token, err := w.o.Secrets.Read(w.o.TokenFile)
		if err != nil {
			return fmt.Errorf("read bearer token: %w", err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return nil
}

// waiting are answers that say nothing against the samples: a URL, a right or a receiver that is not as it should be,
// which somebody can mend. The specification would have us drop the samples on all of them but 429; with the archive
// behind us, waiting costs nothing. Other answers of 4xx are final.
var waiting = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
	http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests,
}

// verdict tells what an answer means.
func verdict(status int, said string, after time.Duration) error {
	switch {
	case status/100 == 2:
		return nil
	case status/100 == 4 && !slices.Contains(waiting, status):
		return &refusal{status: status, said: said}
	}
	return &busy{status: status, said: said, after: after}
}

// retryAfter reads the header of that name: seconds or a date; 0 if there is none.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(max(seconds, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// busy is an answer after which the same request may succeed.
type busy struct {
	status int
	said   string
	after  time.Duration
}

func (b *busy) Error() string { return fmt.Sprintf("the receiver answers %d: %q", b.status, b.said) }

// refusal is an answer after which the same request never succeeds.
type refusal struct {
	status  int
	said    string
	samples int
}

func (r *refusal) Error() string { return fmt.Sprintf("the receiver answers %d: %q", r.status, r.said) }

// add sums up two refusals, each of which may be nil; the text is that of the later.
func (r *refusal) add(other *refusal) *refusal {
	switch {
	case r == nil:
		return other
	case other == nil:
		return r
	}
	other.samples += r.samples
	return other
}
