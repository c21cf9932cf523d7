package export

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/secret"
)

// receiver takes remote write and keeps the values of rtt_min_seconds, in order of arrival.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	got     []float64
	refuses func(v float64) bool                           // a request with such a value is refused as a whole
	answers []func(w http.ResponseWriter, r *http.Request) // one for each of the first requests, which it does not take
	seen    []http.Header
	arrived chan struct{} // one token for each request, as long as there is room
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{arrived: make(chan struct{}, 1000)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	all, err := decode(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.arrived <- struct{}{} }()
	s.seen = append(s.seen, r.Header)
	if len(s.answers) > 0 {
		answer := s.answers[0]
		s.answers = s.answers[1:]
		answer(w, r)
		return
	}
	var values []float64
	for _, one := range all {
		if one.Labels[0][1] == "pathwise_rtt_min_seconds" {
			values = append(values, one.Value)
		}
	}
	if s.refuses != nil && slices.ContainsFunc(values, s.refuses) {
		http.Error(w, "out of order sample", http.StatusBadRequest)
		return
	}
	s.got = append(s.got, values...)
}

func (s *receiver) values() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// says is an answer.
func says(status int, headers ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		http.Error(w, "not now", status)
	}
}

// remoteWriter is one with short waits and a file of its own for what is unsent, whose path it returns.
func remoteWriter(t testing.TB, a archive.Archive, url string, o RemoteOptions) (*RemoteWriter, string) {
	t.Helper()
	o.URL = url
	if o.UnsentFile == "" {
		o.UnsentFile = filepath.Join(t.TempDir(), "remote", "unsent")
	}
	orDefault(&o.Linger, time.Millisecond)
	orDefault(&o.Retry, time.Millisecond)
	w, err := NewRemoteWriter(a, o)
	if err != nil {
		t.Fatal(err)
	}
	return w, o.UnsentFile
}

// run runs w until the test, or stop, ends it. stop checks that this takes no longer than it may.
func run(t testing.TB, w *RemoteWriter) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(5 * time.Second): // a second is promised; a busy machine gets more
			t.Error("did not end")
		}
	})
	t.Cleanup(stop)
	return stop
}

// until waits until something is so.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	deadline, tick := time.After(20*time.Second), time.NewTicker(2*time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline:
			t.Fatalf("not within 20 s: %s", what)
		case <-tick.C:
		}
	}
}

func allSent(w *RemoteWriter) func() bool {
	return func() bool { return w.Stats().Unsent == 0 }
}

func count(from, to int) (all []float64) {
	for i := from; i < to; i++ {
		all = append(all, float64(i))
	}
	return all
}

// file does what the controller does with Results: into the archive, then to the writer.
func file(t testing.TB, a interface {
	Put(context.Context, []*measure.Result) error
}, w *RemoteWriter, results ...*measure.Result) {
	t.Helper()
	if err := errors.Join(a.Put(t.Context(), results), w.Observe(results)); err != nil {
		t.Fatal(err)
	}
}

func TestRemoteWriterSends(t *testing.T) {
	const n = 25
	sent := RemoteStats{Sent: 2 * n}
	tests := []struct {
		name     string
		receiver func(*receiver)
		want     []float64
		stats    RemoteStats
	}{
		{"all is well", func(*receiver) {}, count(0, n), sent},
		{"errors go by", func(s *receiver) {
			s.answers = []func(http.ResponseWriter, *http.Request){says(500), says(503), says(429), says(401), says(403), says(404),
				says(302, "Location", "http://localhost:1/")}
		}, count(0, n), RemoteStats{Sent: 2 * n, Failed: 7}},
		{"connections break", func(s *receiver) {
			s.answers = []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, _ *http.Request) {
				connection, _, _ := w.(http.Hijacker).Hijack()
				connection.Close()
			}}
		}, count(0, n), RemoteStats{Sent: 2 * n, Failed: 1}},
		{"some are refused", func(s *receiver) {
			s.refuses = func(v float64) bool { return v == 3 || v >= 20 }
		}, slices.Concat(count(0, 3), count(4, 20)), RemoteStats{Sent: 2 * (n - 6), Refused: 2 * 6}},
		{"all are refused", func(s *receiver) {
			s.refuses = func(v float64) bool { return true }
		}, nil, RemoteStats{Refused: 2 * n}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newReceiver(t)
			test.receiver(s)
			w, _ := remoteWriter(t, &memory{}, s.URL, RemoteOptions{Batch: 16})
			file(t, w.archive, w, numbered(noon, n)...)
			if got := w.Stats(); got.Queued != 2*n || got.Unsent == 0 && noon.Before(time.Now()) {
				t.Errorf("before: %+v", got)
			}
			run(t, w)
			until(t, "all is sent", func() bool { return w.Stats().Queued == 0 && len(unsentOf(w)) == 0 })
			if diff := cmp.Diff(test.want, s.values()); diff != "" {
				t.Error(diff)
			}
			got := w.Stats()
			if test.name == "connections break" { // the client may have repeated it by itself
				got.Failed = test.stats.Failed
			}
			if diff := cmp.Diff(test.stats, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func unsentOf(w *RemoteWriter) spans {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unsent()
}

// What does not fit into memory while the receiver is away comes from the archive, oldest first; what is filed
// meanwhile comes behind it.
func TestRemoteWriterOutlivesAnOutage(t *testing.T) {
	s := newReceiver(t)
	down := make(chan struct{})
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-down:
			s.ServeHTTP(w, r)
		default:
			says(503)(w, r)
		}
	})
	a := &memory{}
	w, _ := remoteWriter(t, a, s.URL, RemoteOptions{Batch: 10, Memory: 40})
	run(t, w)
	all := numbered(noon, 300)
	for i, r := range all {
		file(t, a, w, r)
		if i == 200 {
			until(t, "a request fails", func() bool { return w.Stats().Failed > 0 })
			if got := w.Stats().Queued; got > 40 {
				t.Errorf("%d samples in memory", got)
			}
			close(down)
		}
	}
	until(t, "all is sent", func() bool { return len(unsentOf(w)) == 0 })
	got := s.values()
	slices.Sort(got)
	if diff := cmp.Diff(count(0, 300), slices.Compact(got)); diff != "" {
		t.Error(diff)
	}
	if got := w.Stats().Refused; got != 0 {
		t.Errorf("%d refused", got)
	}
}

// A restart, clean or not, at any moment loses nothing.
func TestRemoteWriterOutlivesRestarts(t *testing.T) {
	for _, clean := range []bool{true, false} {
		t.Run(map[bool]string{true: "ended", false: "killed"}[clean], func(t *testing.T) {
			s := newReceiver(t)
			s.answers = slices.Repeat([]func(http.ResponseWriter, *http.Request){says(503)}, 12)
			a := &memory{}
			unsent := filepath.Join(t.TempDir(), "unsent")
			all := numbered(noon, 120)
			for len(all) > 0 {
				w, _ := remoteWriter(t, a, s.URL, RemoteOptions{UnsentFile: unsent, Batch: 8})
				file(t, a, w, all[:20]...)
				all = all[20:]
				if !clean { // what a kill leaves: the file as it was then
					left, err := os.ReadFile(unsent)
					if err != nil {
						t.Fatal(err)
					}
					stop := run(t, w)
					<-s.arrived
					stop()
					if err := os.WriteFile(unsent, left, 0o600); err != nil {
						t.Fatal(err)
					}
					continue
				}
				stop := run(t, w)
				<-s.arrived
				stop()
			}
			w, _ := remoteWriter(t, a, s.URL, RemoteOptions{UnsentFile: unsent})
			run(t, w)
			until(t, "all is sent", func() bool { return len(unsentOf(w)) == 0 })
			got := s.values()
			slices.Sort(got)
			if diff := cmp.Diff(count(0, 120), slices.Compact(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// After a clean end nothing is sent again.
func TestRemoteWriterForgetsWhatIsSent(t *testing.T) {
	s := newReceiver(t)
	a := &memory{}
	w, unsent := remoteWriter(t, a, s.URL, RemoteOptions{Now: func() time.Time { return noon }})
	stop := run(t, w)
	file(t, a, w, numbered(noon.Add(-30*time.Second), 30)...)
	until(t, "all is sent", allSent(w))
	stop()
	content, err := os.ReadFile(unsent)
	if err != nil || len(content) > 0 {
		t.Errorf("the file says %q, %v", content, err)
	}
}

// What is unsent is written when a new time begins, not with each Result.
func TestRemoteWriterSparesTheDisk(t *testing.T) {
	w, unsent := remoteWriter(t, &memory{}, "http://localhost:1", RemoteOptions{Now: func() time.Time { return noon }})
	observe := func(at time.Time) {
		t.Helper()
		if err := w.Observe([]*measure.Result{ping("", at, nil)}); err != nil {
			t.Fatal(err)
		}
	}
	observe(noon)
	if err := os.Remove(unsent); err != nil {
		t.Fatal(err)
	}
	observe(noon.Add(9 * time.Second))
	if _, err := os.Stat(unsent); err == nil {
		t.Error("written for a time that it had")
	}
	observe(noon.Add(10 * time.Second))
	if got, err := readUnsent(unsent); err != nil || !cmp.Equal(got, spans{{slotOf(noon), slotOf(noon) + 2}}, spansEqual) {
		t.Errorf("the file says %v, %v", got, err)
	}
}

// Without what is unsent on disk a Result is not taken, and can be given again.
func TestRemoteWriterNeedsItsLedger(t *testing.T) {
	s := newReceiver(t)
	w, unsent := remoteWriter(t, &memory{}, s.URL, RemoteOptions{})
	folder := filepath.Dir(unsent)
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	if err := w.Observe(numbered(noon, 1)); err == nil || !strings.Contains(err.Error(), "write what remote write has not sent: ") {
		t.Errorf("error is %v", err)
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	if err := w.Observe(numbered(noon, 1)); err != nil {
		t.Error(err)
	}
	run(t, w)
	until(t, "all is sent", func() bool { return len(unsentOf(w)) == 0 })
	if got := slices.Compact(s.values()); !cmp.Equal(got, []float64{0}) {
		t.Errorf("sent %v", got)
	}
}

// Resend brings a span of the archive once more, and no more than that.
func TestResend(t *testing.T) {
	s := newReceiver(t)
	w, _ := remoteWriter(t, filled(t, numbered(noon.Add(-time.Hour), 100)...), s.URL, RemoteOptions{Batch: 10})
	run(t, w)
	if err := w.Resend(noon.Add(-time.Hour+30*time.Second), noon.Add(-time.Hour+70*time.Second)); err != nil {
		t.Fatal(err)
	}
	until(t, "all is sent", func() bool { return len(unsentOf(w)) == 0 })
	if diff := cmp.Diff(count(30, 70), s.values()); diff != "" {
		t.Error(diff)
	}
}

// An archive that cannot be read for a while delays and loses nothing.
func TestRemoteWriterWaitsForTheArchive(t *testing.T) {
	s := newReceiver(t)
	a := &memory{all: numbered(noon, 3), broken: errors.New("busy")}
	w, _ := remoteWriter(t, a, s.URL, RemoteOptions{})
	if err := w.Resend(noon, noon.Add(time.Second*5)); err != nil {
		t.Fatal(err)
	}
	run(t, w)
	until(t, "all is sent", func() bool { return len(unsentOf(w)) == 0 })
	if diff := cmp.Diff(count(0, 3), s.values()); diff != "" {
		t.Error(diff)
	}
}

// Run ends at once while a request hangs and while it waits to try again, and sends the same when it runs again.
func TestRemoteWriterEnds(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request)
	}{
		{"during a request", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }},
		{"during Retry-After", says(429, "Retry-After", "300")},
		{"during Retry-After until", says(503, "Retry-After", "Fri, 31 Dec 2100 23:59:59 GMT")},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newReceiver(t)
			hanging := make(chan struct{})
			s.answers = []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, r *http.Request) {
				close(hanging)
				test.answer(w, r)
			}}
			a := &memory{}
			w, _ := remoteWriter(t, a, s.URL, RemoteOptions{})
			file(t, a, w, numbered(noon, 5)...)
			stop := run(t, w)
			<-hanging
			stop()
			if got := s.values(); len(got) > 0 {
				t.Errorf("sent %v", got)
			}
			run(t, w)
			until(t, "all is sent", func() bool { return len(unsentOf(w)) == 0 })
			if diff := cmp.Diff(count(0, 5), s.values()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"": 0, "x": 0, "-5": 0, "7": 7 * time.Second, "99999999999": 10 * time.Minute,
		"Sat, 21 Nov 2026 12:00:30 GMT": 30 * time.Second, "Sat, 21 Nov 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(header, noon); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

// What a receiver may ask for: headers, user and password or a token, which may change, and a certificate of a site's own.
func TestRemoteWriterShowsWhoItIs(t *testing.T) {
	folder := secret.Folder(t.TempDir())
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(string(folder), "password"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		o    RemoteOptions
		want [2]string // Authorization with the first secret and the second
	}{
		{"nobody", RemoteOptions{}, [2]string{}},
		{"user", RemoteOptions{Secrets: folder, User: "u", PasswordFile: "password"}, [2]string{"Basic dTpvbmU=", "Basic dTp0d28="}},
		{"token", RemoteOptions{Secrets: folder, TokenFile: "password"}, [2]string{"Bearer one", "Bearer two"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			write("one\n")
			s := newReceiver(t)
			s.Close()
			s.Server = httptest.NewTLSServer(s)
			t.Cleanup(s.Close)
			s.answers = []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, r *http.Request) {
				write("two\n")
				says(401)(w, r)
			}}
			ca := filepath.Join(t.TempDir(), "ca.pem")
			block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
			if err := os.WriteFile(ca, block, 0o600); err != nil {
				t.Fatal(err)
			}
			test.o.CAFile, test.o.Version, test.o.Headers = ca, "9", map[string]string{"X-Scope-OrgID": "net"}
			w, _ := remoteWriter(t, &memory{}, s.URL, test.o)
			file(t, w.archive, w, numbered(noon, 1)...)
			run(t, w)
			until(t, "all is sent", func() bool { return len(unsentOf(w)) == 0 })
			s.mu.Lock()
			defer s.mu.Unlock()
			for i, header := range s.seen {
				header.Del("Content-Length")
				header.Del("Accept-Encoding")
				want := http.Header{"X-Scope-Orgid": {"net"}, "Content-Encoding": {"snappy"}, "User-Agent": {"pathwise/9"},
					"Content-Type": {"application/x-protobuf"}, "X-Prometheus-Remote-Write-Version": {"0.1.0"}}
				if test.want[i] != "" {
					want.Set("Authorization", test.want[i])
				}
				if diff := cmp.Diff(want, header); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestRemoteOptions(t *testing.T) {
	folder := t.TempDir()
	spoiled := filepath.Join(folder, "spoiled")
	if err := os.WriteFile(spoiled, []byte("no such thing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := RemoteOptions{URL: "https://m.example.org/api/v1/write", UnsentFile: filepath.Join(folder, "unsent")}
	with := func(change func(*RemoteOptions)) RemoteOptions {
		o := good
		change(&o)
		return o
	}
	tests := []struct {
		o    RemoteOptions
		want string // error; "": none
		bad  bool   // the user's
	}{
		{good, "", false},
		{with(func(o *RemoteOptions) { o.URL = "" }), `export: remote write URL is "", want one such as https://`, true},
		{with(func(o *RemoteOptions) { o.URL = "m.example.org:9090" }), `want one such as https://`, true},
		{with(func(o *RemoteOptions) { o.URL = "ftp://u:secret@m" }), `export: remote write URL is "...@m", want`, true},
		{with(func(o *RemoteOptions) { o.URL = "https://u:secret@m/" }), `is "https://u:xxxxx@m/", want one without user`, true},
		{with(func(o *RemoteOptions) { o.UnsentFile = "" }), `remote write file of what is unsent is "", want a file`, true},
		{with(func(o *RemoteOptions) { o.User = "u" }), `remote write user is "u", want both`, true},
		{with(func(o *RemoteOptions) { o.User, o.PasswordFile = "u:v", "f" }), `is "u:v", want a name without a colon`, true},
		{with(func(o *RemoteOptions) { o.User, o.PasswordFile, o.TokenFile = "u", "f", "g" }), `token file is "g", want none`, true},
		{with(func(o *RemoteOptions) { o.URL, o.CAFile = "http://m/", "c" }), `CA file is "c", want none`, true},
		{with(func(o *RemoteOptions) { o.CAFile = spoiled }), `want a file with PEM certificates`, true},
		{with(func(o *RemoteOptions) { o.CAFile = filepath.Join(folder, "none") }), `read remote write CA: open`, false},
		{with(func(o *RemoteOptions) { o.Headers = map[string]string{"content-type": "x"} }), `header is "content-type"`, true},
		{with(func(o *RemoteOptions) { o.Headers = map[string]string{"a b": "x"} }), `header is "a b"`, true},
		{with(func(o *RemoteOptions) { o.Headers = map[string]string{"X": "secret\r\n"} }), `header X is "more than a line"`, true},
		{with(func(o *RemoteOptions) { o.Batch = -1 }), `remote write batch is "-1", want a number of samples`, true},
		{with(func(o *RemoteOptions) { o.Retry = -1 }), `remote write retry is "-1ns", want a time`, true},
		{with(func(o *RemoteOptions) { o.UnsentFile = spoiled }), `line 1 is "no such thing", want two times`, false},
	}
	for _, test := range tests {
		w, err := NewRemoteWriter(&memory{}, test.o)
		if (err == nil) != (test.want == "") || (w == nil) != (err != nil) {
			t.Errorf("%+v: error is %v, want %q", test.o, err, test.want)
		}
		if err == nil {
			continue
		}
		var bad interface{ BadInput() bool }
		if !strings.Contains(err.Error(), test.want) || errors.As(err, &bad) != test.bad || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: error is %v, want %q", test.o, err, test.want)
		}
	}
}

// A password or token is read from the folder of secrets and from nowhere else.
func TestRemoteWriterReadsSecretsOnly(t *testing.T) {
	folder := t.TempDir()
	for _, o := range []RemoteOptions{{TokenFile: "/etc/hostname"}, {User: "u", PasswordFile: "../p"}, {TokenFile: folder + "/unsent"}} {
		o.URL, o.UnsentFile, o.Secrets = "https://m.example.org/", filepath.Join(folder, "unsent"), secret.In(folder)
		var misplaced *secret.Misplaced
		if _, err := NewRemoteWriter(&memory{}, o); !errors.As(err, &misplaced) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
