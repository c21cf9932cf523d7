package probe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// freePort is a port of 127.0.0.1 where nobody listens, of UDP and TCP.
func freePort(t *testing.T) int {
	t.Helper()
	for range 20 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		datagrams, err := net.ListenPacket("udp", l.Addr().String())
		l.Close()
		if err == nil {
			datagrams.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// startServer runs a server of Debian's until the test ends, once p is answered there; without the program the test is skipped.
func startServer(t *testing.T, p App, argv ...string) {
	t.Helper()
	path, err := exec.LookPath(argv[0])
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + argv[0]); err != nil {
			t.Skipf("there is no %s", argv[0])
		}
	}
	var said bytes.Buffer
	c := exec.Command(path, argv[1:]...)
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() { _ = c.Process.Kill(); <-ended })
	p.Count, p.Timeout = 1, 200*time.Millisecond
	for until := time.Now().Add(20 * time.Second); ; {
		r, err := p.Do(t.Context())
		if err == nil && r.Metrics[measure.ReceivedPackets] == 1 {
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended: %v\n%s", argv[0], err, said.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(until) {
			t.Fatalf("%s does not answer: %v, %v\n%s", argv[0], r.Notes, err, said.String())
		}
	}
}

// outcome is what a Result says beside its times.
type outcome struct {
	Sent, Received float64
	Answers        any
	Notes          []string
}

func outcomeOf(t *testing.T, p App) (outcome, *measure.Result) {
	t.Helper()
	if p.Count == 0 {
		p.Count = 3
	}
	if p.Interval == 0 {
		p.Interval = 10 * time.Millisecond
	}
	r, err := p.Do(t.Context())
	if err != nil {
		t.Errorf("%+v: %v", p, err)
	}
	for _, e := range r.Samples.Echoes {
		if e.RTTSeconds != nil && (*e.RTTSeconds <= 0 || *e.RTTSeconds > 5) {
			t.Errorf("%s: a round trip of %g s", p.Scheme, *e.RTTSeconds)
		}
	}
	return outcome{r.Metrics[measure.SentPackets], r.Metrics[measure.ReceivedPackets], r.Parameters["answers"], r.Notes}, r
}

// Debian's dnsmasq answers what it knows, says what there is not, and refuses what it may not ask for.
func TestAppDNS(t *testing.T) {
	p := App{Target: "127.0.0.1", Scheme: "dns", Port: freePort(t), Name: "www.example.org", Timeout: 2 * time.Second}
	startServer(t, p, "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=", "--user=", "--group=", "--no-resolv", "--no-hosts",
		"--listen-address=127.0.0.1", "--bind-interfaces", fmt.Sprint("--port=", p.Port),
		"--address=/www.example.org/192.0.2.1", "--address=/www.example.org/2001:db8::1", "--local=/example.net/")
	for _, c := range []struct {
		name, kind string
		want       outcome
	}{
		{"www.example.org", "", outcome{3, 3, "NOERROR", []string{}}},
		{"WWW.example.org.", "AAAA", outcome{3, 3, "NOERROR", []string{}}},
		{"none.example.net", "", outcome{3, 3, "NXDOMAIN", []string{}}},
		{"www.example.com", "", outcome{3, 0, nil, []string{"the server answers REFUSED; does a name server run there, and does it serve this host?"}}},
	} {
		p.Name, p.Type = c.name, c.kind
		got, _ := outcomeOf(t, p)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.name, c.kind, diff)
		}
	}
}

// Debian's chrony shows the clock of this very host: the truth, which is that it is 0 ahead, lies within what was read.
func TestAppNTP(t *testing.T) {
	p := App{Target: "127.0.0.1", Scheme: "ntp", Port: freePort(t), Count: 10, Timeout: 2 * time.Second}
	conf := filepath.Join(t.TempDir(), "chrony.conf")
	text := fmt.Sprintf("port %d\nbindaddress 127.0.0.1\nallow\nlocal stratum 3\ncmdport 0\nbindcmdaddress /\npidfile %s.pid\n", p.Port, conf)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	startServer(t, p, "chronyd", "-x", "-d", "-U", "-u", "root", "-f", conf) // -x: it leaves the clock alone
	got, r := outcomeOf(t, p)
	if diff := cmp.Diff(outcome{10, 10, "stratum 3", []string{}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	offset, within, far := r.Metrics[measure.ClockOffset], r.Metrics[measure.ClockOffsetError], r.TargetClock
	if offset-within > 0 || offset+within < 0 || within > .1 || far == nil || !far.Synchronized || far.AheadSeconds[0] > 0 || far.AheadSeconds[1] < 0 {
		t.Errorf("ahead by %g, within %g; %+v", offset, within, far)
	}
	if r.Metrics[measure.ServerStratum] != 3 {
		t.Errorf("stratum %g", r.Metrics[measure.ServerStratum])
	}
}

// Debian's FreeRADIUS answers who knows the secret, and is silent to others.
func TestAppRADIUS(t *testing.T) {
	dir := t.TempDir()
	p := App{Target: "127.0.0.1", Scheme: "radius", Port: freePort(t), Secret: filepath.Join(dir, "secret"), Timeout: 2 * time.Second}
	conf := fmt.Sprintf(`security { status_server = yes }
client here { ipaddr = 127.0.0.1
 secret = xyzzy5461 }
server default { listen { type = status
 ipaddr = 127.0.0.1
 port = %d } }
`, p.Port)
	for name, text := range map[string]string{"radiusd.conf": conf, "dictionary": "$INCLUDE /usr/share/freeradius/dictionary\n",
		"secret": "xyzzy5461\n", "wrong": "x", "none": "a\nb\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	startServer(t, p, "freeradius", "-f", "-l", "stdout", "-d", dir)
	got, _ := outcomeOf(t, p)
	if diff := cmp.Diff(outcome{3, 3, "Access-Accept", []string{}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.Secret, p.Timeout = filepath.Join(dir, "wrong"), 100*time.Millisecond
	got, _ = outcomeOf(t, p)
	if diff := cmp.Diff(outcome{3, 0, nil, []string{radiusScheme().remedy}}, got); diff != "" {
		t.Errorf("with another secret (-want +got):\n%s", diff)
	}
	p.Secret = filepath.Join(dir, "none")
	if _, err := p.Do(t.Context()); !input.Bad(err) {
		t.Errorf("a file that is no secret: %v", err)
	}
}

// A web server's status below 500 is an answer; its certificate is judged, and not required.
func TestAppHTTP(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-r.Context().Done()
		case "/missing":
			http.NotFound(w, r)
		case "/broken":
			http.Error(w, "no", http.StatusServiceUnavailable)
		}
	})
	plain, secret := httptest.NewServer(handler), httptest.NewUnstartedServer(handler)
	secret.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of who speaks no TLS
	secret.StartTLS()
	defer plain.Close()
	defer secret.Close()
	roots := secret.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	at := func(s *httptest.Server, p App) App {
		to := s.Listener.Addr().(*net.TCPAddr)
		p.Target, p.Port = to.IP.String(), to.Port
		return p
	}
	const remedy = "is a web server running there?"
	for _, c := range []struct {
		app  App
		want outcome
	}{
		{at(plain, App{}), outcome{3, 3, "200 OK", []string{}}},
		{at(plain, App{Path: "/missing"}), outcome{3, 3, "404 Not Found", []string{}}},
		{at(plain, App{Path: "/broken"}), outcome{3, 0, nil, []string{`the server answers "503 Service Unavailable"; ` + remedy}}},
		{at(plain, App{Path: "/slow", Timeout: 50 * time.Millisecond}), outcome{3, 0, nil, []string{remedy}}},
		{at(secret, App{Scheme: "https", Roots: roots}), outcome{3, 3, "200 OK", []string{}}},
		{at(secret, App{Scheme: "https", Name: "example.com", Roots: roots}), outcome{3, 3, "200 OK", []string{}}},
		{at(secret, App{Scheme: "tls", Roots: roots}), outcome{3, 3, "TLS 1.3", []string{}}},
		{at(plain, App{Scheme: "tls"}), outcome{3, 0, nil, []string{"tls: first record does not look like a TLS handshake; " + tlsScheme().remedy}}},
		{at(secret, App{}), outcome{3, 3, "400 Bad Request", []string{}}},
	} {
		got, r := outcomeOf(t, c.app)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s%s (-want +got):\n%s", c.app.Scheme, c.app.Path, diff)
		}
		left, shown := r.Get(measure.CertificateLeft)
		if shown != (c.want.Received > 0 && c.app.Scheme != "") || shown && left < 365*24*3600 {
			t.Errorf("%s: a certificate for %g s, %t", c.app.Scheme, left, shown)
		}
		if connect, is := r.Get(measure.ConnectMedian); is != (c.want.Received > 0) || is && connect > r.Metrics[measure.RTTMedian] {
			t.Errorf("%s%s: %g s to connect, of %g", c.app.Scheme, c.app.Path, connect, r.Metrics[measure.RTTMedian])
		}
	}
	got, _ := outcomeOf(t, at(secret, App{Scheme: "tls", Name: "other.example", Roots: roots}))
	if len(got.Notes) != 1 || got.Received != 3 || !strings.HasPrefix(got.Notes[0], "a client would not trust the certificate: x509: ") {
		t.Errorf("a certificate of another name: %+v", got)
	}
}

// serveLines greets each connection of a listener, and answers its first line.
func serveLines(t *testing.T, greeting, answer string) App {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				fmt.Fprint(c, greeting)
				line := make([]byte, 512)
				n, err := c.Read(line)
				if err == nil && string(line[:n]) == "EHLO [127.0.0.1]\r\n" {
					fmt.Fprint(c, answer)
				}
				_, _ = c.Read(line) // until QUIT, or the end
			}()
		}
	}()
	to := l.Addr().(*net.TCPAddr)
	return App{Target: "127.0.0.1", Port: to.Port, Scheme: "smtp"}
}

func TestAppSMTP(t *testing.T) {
	for _, c := range []struct {
		greeting, answer string
		want             outcome
	}{
		{"220 mx ESMTP\r\n", "250-mx\r\n250 PIPELINING\r\n", outcome{3, 3, "220, 250", []string{}}},
		{"554 go away\r\n", "", outcome{3, 0, nil, []string{`the server greets with "554 go away"; ` + smtpScheme().remedy}}},
		{"220 mx\r\n", "502 what\r\n", outcome{3, 0, nil, []string{`the server answers EHLO with "502 what"; ` + smtpScheme().remedy}}},
		{"SSH-2.0-x\r\n", "", outcome{3, 0, nil, []string{`what answers speaks no SMTP: "SSH-2.0-x"; ` + smtpScheme().remedy}}},
	} {
		got, _ := outcomeOf(t, serveLines(t, c.greeting, c.answer))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.greeting, diff)
		}
	}
}

// A port where nobody listens says so at once, by UDP and TCP.
func TestAppRefused(t *testing.T) {
	for _, scheme := range []string{"dns", "ntp", "http", "smtp", "tls"} {
		p := App{Target: "127.0.0.1", Port: freePort(t), Scheme: scheme, Timeout: 3 * time.Second}
		got, _ := outcomeOf(t, p)
		if diff := cmp.Diff(outcome{3, 0, nil, []string{"connection refused; " + p.withDefaults().scheme().remedy}}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", scheme, diff)
		}
	}
}

// A time server that asks to be left alone is asked no more.
func TestAppKissOfDeath(t *testing.T) {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		request := make([]byte, ntpBytes)
		for {
			_, from, err := server.ReadFrom(request)
			if err != nil {
				return
			}
			answer := make([]byte, ntpBytes)
			answer[0] = ntpVersion<<3 | ntpServer
			copy(answer[12:], "RATE")
			copy(answer[24:], request[40:])
			_, _ = server.WriteTo(answer, from)
		}
	}()
	p := App{Target: "127.0.0.1", Port: server.LocalAddr().(*net.UDPAddr).Port, Scheme: "ntp", Interval: time.Minute}
	r, err := p.Do(t.Context())
	if err == nil || !strings.Contains(err.Error(), "(RATE)") || len(r.Samples.Echoes) != 1 {
		t.Errorf("%v, %d requests", err, len(r.Samples.Echoes))
	}
}

// What was measured before somebody ends it is told, and what was on its way is not counted as lost.
func TestAppCutShort(t *testing.T) {
	answered := serveLines(t, "220 mx\r\n", "250 mx\r\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered.Interval, answered.Progress = time.Minute, func(measure.Echo) { cancel() }
	r, err := answered.Do(ctx)
	if err == nil || r.Status != measure.StatusPartial || r.Metrics[measure.ReceivedPackets] != 1 {
		t.Errorf("%v, %+v", err, r.Metrics)
	}
	silent := serveLines(t, "", "")
	silent.Interval = 10 * time.Millisecond
	short, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if r, err := silent.Do(short); err == nil || len(r.Samples.Echoes) != 0 || len(r.Notes) != 1 {
		t.Errorf("%v, %d requests counted, %q", err, len(r.Samples.Echoes), r.Notes)
	}
}
