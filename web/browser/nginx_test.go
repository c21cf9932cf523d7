package browser

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/web"
)

// TestBehindNginx: with the lines of docs/pages.md in its configuration, nginx shows the pages over TLS and under a path; people
// sign in, what happens is seen as it happens, and the log has their address, not nginx's.
func TestBehindNginx(t *testing.T) {
	needChromium(t)
	m := playedBehind(t, func(s *web.Server) http.Handler {
		return s.Handler(web.Listener{Proxies: []netip.Prefix{netip.MustParsePrefix(nginxAddress + "/32")}, Public: func() bool { return true }})
	}, "olga")
	front := startNginx(t, strings.Trim(strings.TrimPrefix(m.url, "http://"), "/"))
	believe := func(certificates bool) {
		_, err := chromedp.Call(chromium.Context, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: certificates})
		must(t, err)
	}
	believe(true)
	t.Cleanup(func() { believe(false) })
	p := open(t, desk, front+"#/sign-in?then=%23/test?source=ucl%26target=cern")
	p.signIn("olga", password)
	p.until("document.querySelector('.ask')")
	goOn := m.hub.pause("ping")
	p.tabTo("button[value=test]")
	p.keys(kb.Enter)
	p.says(".live-run", "5 packets, 1 lost, median round trip 40.0 ms") // though it has not ended
	p.until(underWay)
	goOn()
	p.says(".live-run [role=status]", "Done.")
	log, err := m.Accounts.Audit("", 100)
	must(t, err)
	signedIn := 0
	for _, e := range log.Entries {
		if e.What == "sign in" {
			signedIn++
			if e.From.String() != "127.0.0.1" {
				t.Errorf("%s signed in from %s", e.Who, e.From)
			}
		}
	}
	if signedIn != 1 {
		t.Errorf("%d sign-ins in the log", signedIn)
	}
}

// nginxAddress is where nginx calls from, which is not where Chromium does.
const nginxAddress = "127.0.0.2"

// startNginx starts a proxy before a server, with what docs/pages.md says of it, and returns its address.
func startNginx(t *testing.T, server string) string {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		if nginx, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Skip("there is no nginx to put before the controller")
		}
	}
	folder := t.TempDir()
	writeCertificate(t, folder)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := free.Addr().String()
	must(t, free.Close())
	text := fmt.Sprintf("daemon off; master_process off; pid pid; error_log stderr; events {}\n"+
		"http { access_log off; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;\n"+
		"server { listen %s ssl; ssl_certificate cert.pem; ssl_certificate_key key.pem; proxy_bind %s;\n%s}}\n",
		address, nginxAddress, documentedLocation(t, server))
	must(t, os.WriteFile(filepath.Join(folder, "nginx.conf"), []byte(text), 0o600))
	var said bytes.Buffer
	c := exec.Command(nginx, "-p", folder+"/", "-c", "nginx.conf")
	c.Stderr = &said
	must(t, c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
	})
	for {
		if link, err := net.Dial("tcp", address); err == nil {
			link.Close()
			return "https://" + address + "/pathwise/"
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("nginx ended: %v: %s", err, said.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// documentedLocation is the part of nginx's configuration that docs/pages.md gives, for a server.
func documentedLocation(t *testing.T, server string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/pages.md")
	must(t, err)
	_, rest, begins := strings.Cut(string(page), "    location /pathwise/ {\n")
	lines, _, ends := strings.Cut(rest, "\n    }\n")
	if !begins || !ends || !strings.Contains(lines, "127.0.0.1:8080") {
		t.Fatal("docs/pages.md has no location /pathwise/")
	}
	return "location /pathwise/ {\n" + strings.ReplaceAll(lines, "127.0.0.1:8080", server) + "\n}\n"
}

// writeCertificate writes the one that package httptest has.
func writeCertificate(t *testing.T, folder string) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pair := s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	must(t, err)
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		must(t, os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600))
	}
}
