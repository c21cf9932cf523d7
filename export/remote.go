package export

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/secret"
)

// RemoteOptions say where a RemoteWriter sends to and how. URL and UnsentFile are needed.
type RemoteOptions struct {
	Name string // of the receiver, in logs and labels; "": the host of the URL
	URL  string // http or https; without user and password, which have their own place

	Headers      map[string]string // further ones, such as X-Scope-OrgID
	Secrets      secret.Folder     // where the two files that follow lie
	User         string            // basic authentication
	PasswordFile string            // read at each request, so that it may change; needed with User
	TokenFile    string            // a token for Authorization: Bearer; as PasswordFile. Not with User
	CAFile       string            // PEM certificates that sign the receiver's; "": those of the system

	UnsentFile string // the file of what is not sent; each RemoteWriter has its own

	Batch   int           // samples a request, about; 0: 5000, some 50 kB on the wire
	Memory  int           // samples that wait in memory, the others in the archive; 0: 100,000, about 20 MB
	Linger  time.Duration // how long a Result waits for others to be sent with it; 0: 1 s
	Retry   time.Duration // first wait after a failure, then twice as long, up to half a minute; 0: 0.5 s
	Timeout time.Duration // of one request; 0: 30 s

	Version string           // of Pathwise, for User-Agent
	Log     *slog.Logger     // of failures; nil: nowhere
	Now     func() time.Time // nil: time.Now
}

// ours are headers that the protocol and the other options set.
var ours = []string{"Content-Encoding", "Content-Type", "Content-Length", "Host", "X-Prometheus-Remote-Write-Version"}

// Validate says what cannot be used, as bad input. It opens no file.
func (o RemoteOptions) Validate() error {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return badOption("remote write URL", redact(o.URL), "one such as https://metrics.example.org/api/v1/write")
	case u.User != nil:
		return badOption("remote write URL", u.Redacted(), "one without user and password: they have their own settings")
	case o.UnsentFile == "":
		return badOption("remote write file of what is unsent", "", "a file")
	case (o.User == "") != (o.PasswordFile == ""):
		return badOption("remote write user", o.User, "both a user and a password file, or neither")
	case strings.Contains(o.User, ":"):
		return badOption("remote write user", o.User, "a name without a colon")
	case o.User != "" && o.TokenFile != "":
		return badOption("remote write token file", o.TokenFile, "none beside a user and password")
	case o.CAFile != "" && u.Scheme != "https":
		return badOption("remote write CA file", o.CAFile, "none for a URL that is not https")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
		if name == "" || strings.ContainsAny(name, " \t\r\n:") || slices.Contains(ours, http.CanonicalHeaderKey(name)) {
			return badOption("remote write header", name, "the name of a header that remote write does not set itself")
		}
		if strings.ContainsAny(o.Headers[name], "\r\n\x00") {
			return badOption("remote write header "+name, "more than a line", "one line")
		}
	}
	for _, name := range []string{o.PasswordFile, o.TokenFile} {
		if name == "" {
			continue
		}
		if err := o.Secrets.Check(name); err != nil {
			return fmt.Errorf("remote write: %w", err)
		}
	}
	return o.validateNumbers()
}

func (o RemoteOptions) validateNumbers() error {
	for _, n := range []struct {
		field string
		value int
	}{{"batch", o.Batch}, {"memory", o.Memory}} {
		if n.value < 0 {
			return badOption("remote write "+n.field, fmt.Sprint(n.value), "a number of samples")
		}
	}
	for _, d := range []struct {
		field string
		value time.Duration
	}{{"linger", o.Linger}, {"retry", o.Retry}, {"timeout", o.Timeout}} {
		if d.value < 0 {
			return badOption("remote write "+d.field, d.value.String(), "a time")
		}
	}
	return nil
}

// redact hides what might be a password in a text that is no URL.
func redact(text string) string {
	if _, after, found := strings.Cut(text, "@"); found {
		return "...@" + after
	}
	return text
}

// defaults fills in what was left open.
func (o RemoteOptions) defaults() RemoteOptions {
	if o.Name == "" {
		u, _ := url.Parse(o.URL)
		o.Name = u.Host
	}
	orDefault(&o.Batch, 5000)
	orDefault(&o.Memory, 100_000)
	orDefault(&o.Linger, time.Second)
	orDefault(&o.Retry, 500*time.Millisecond)
	orDefault(&o.Timeout, 30*time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func orDefault[T int | time.Duration](field *T, value T) { *field = cmp.Or(*field, value) }

// NewRemoteWriter returns a RemoteWriter. What an earlier one had not sent, as its file says, Run reads from the archive and sends.
func NewRemoteWriter(a archive.Archive, o RemoteOptions) (*RemoteWriter, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.defaults()
	client, err := o.client()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(o.UnsentFile), 0o700); err != nil {
		return nil, fmt.Errorf("make folder of what remote write has not sent: %w", err)
	}
	unsent, err := readUnsent(o.UnsentFile)
	if err != nil {
		return nil, err
	}
	w := &RemoteWriter{o: o, archive: a, client: client, wake: make(chan struct{}, 1), held: map[slot]int{}}
	w.behind, w.onDisk = unsent, slices.Clone(unsent)
	w.desc = w.describe()
	return w, nil
}

// client follows no redirects, since they would lead the password or token of each request to another address. Who moves a receiver
// changes its URL in the settings.
func (o RemoteOptions) client() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 1
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read remote write CA: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, badOption("remote write CA file", o.CAFile, "a file with PEM certificates")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: transport, CheckRedirect: stay, Timeout: o.Timeout}, nil
}

// RemoteStats say what a RemoteWriter has done since it was made, and what it has to do.
type RemoteStats struct {
	Sent    uint64        // samples that the receiver accepted
	Refused uint64        // samples that it will never accept, such as ones too old for it
	Failed  uint64        // requests that were or will be repeated
	Queued  int           // samples in memory
	Unsent  time.Duration // age of the oldest time of which something is not sent; 0: all is sent
}

// Stats says how it goes.
func (w *RemoteWriter) Stats() RemoteStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.counts
	s.Queued = w.queued
	if unsent := w.unsent(); len(unsent) > 0 {
		s.Unsent = max(0, w.o.Now().Sub(unsent[0].from.start()))
	}
	return s
}

func (w *RemoteWriter) count(change func(*RemoteStats)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.counts)
}

// remoteDescs are what a scrape shows of a RemoteWriter.
type remoteDescs struct {
	sent, refused, failed, queued, unsent *prometheus.Desc
}

func (w *RemoteWriter) describe() remoteDescs {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prefix+"remote_write_"+name, help, nil, prometheus.Labels{"receiver": label(w.o.Name)})
	}
	return remoteDescs{
		sent:    desc("sent_samples_total", "Samples that the receiver accepted."),
		refused: desc("refused_samples_total", "Samples that the receiver will never accept, such as ones too old for it."),
		failed:  desc("failed_requests_total", "Requests that were or will be repeated."),
		queued:  desc("queued_samples", "Samples that wait in memory; what does not fit waits in the archive."),
		unsent:  desc("unsent_age_seconds", "Age of the oldest time of which something is not sent; 0 if all is."),
	}
}

// Describe tells which metrics Collect sends.
func (w *RemoteWriter) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(w, out) }

// Collect makes a RemoteWriter a prometheus.Collector, for Collector.Handler.
func (w *RemoteWriter) Collect(out chan<- prometheus.Metric) {
	s := w.Stats()
	counter(out, w.desc.sent, float64(s.Sent))
	counter(out, w.desc.refused, float64(s.Refused))
	counter(out, w.desc.failed, float64(s.Failed))
	gauge(out, w.desc.queued, float64(s.Queued))
	gauge(out, w.desc.unsent, s.Unsent.Seconds())
}
