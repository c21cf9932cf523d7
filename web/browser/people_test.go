package browser

import (
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/pathwise-net/pathwise/web"
)

// Where others can read what is typed, the pages take no password, and say how to sign in.
func TestPlainHTTP(t *testing.T) {
	m := playedBehind(t, func(s *web.Server) http.Handler {
		h := s.Handler(web.Listener{})
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.RemoteAddr = "192.0.2.1:5" // of another machine
			h.ServeHTTP(w, r)
		})
	})
	p := open(t, desk, m.url+"#/sign-in")
	p.allowed = []string{"the server responded with a status of 403"} // to what the head asks for
	p.withAxe()
	for _, hash := range []string{"#/sign-in", "#/welcome?token=secret"} {
		p.show(hash, desk, false)
		p.says("main", "No password is taken here: this page came by plain HTTP")
		p.says("main li", "ssh -L 8080:127.0.0.1:")
		p.says("main", "controller: {tls:")
		p.until("!document.querySelector('main input') && document.querySelector('main a').href === 'http://127.0.0.1:8080/' + location.hash")
		p.accessible(hash)
	}
}

// Who may not look is told to sign in and how the first password comes about, and is not asked about again and again; then all is there.
func TestStranger(t *testing.T) {
	var asked atomic.Int32 // for events
	m := playedBehind(t, func(s *web.Server) http.Handler {
		h := s.Handler(web.Listener{Secure: true})
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				asked.Add(1)
			}
			h.ServeHTTP(w, r)
		})
	}, "vic")
	p := open(t, desk, m.url+"#/?metric=loss_ratio")
	p.allowed = []string{"the server responded with a status of 401"} // to what is asked for before it is known who looks
	p.withAxe()
	p.says("h1", "Sign in to see this mesh")
	p.says("main", "pathwise serve printed a link")
	p.accessible("a stranger")
	if n := asked.Load(); n > 0 || value[bool](p, "Boolean(document.querySelector('main select, main .failure, .live'))") {
		t.Errorf("events were asked for %d times; the page is %s", n, value[string](p, "document.querySelector('#app').textContent"))
	}
	p.run(chromedp.Click(chromedp.CSS("main a.button")))
	p.signIn("vic", password)
	p.until("location.hash === '#/?metric=loss_ratio' && document.querySelector('.live.open') && document.querySelector('main h1').textContent === 'Loss'")
}

// The first administrator takes up the link, which tells their name and signs them in; signs out and in again; invites somebody, makes a token and takes it away; the log says so.
func TestPeople(t *testing.T) {
	m := newPlayed(t)
	m.Joining = &web.Joining{At: netip.MustParseAddrPort("127.0.0.1:4222"), Suggested: netip.MustParseAddr("192.0.2.5"),
		Invite: func(string) (string, time.Time, error) { return "pathwise-join:x", time.Now().Add(time.Hour), nil }}
	invitation, err := m.Accounts.InviteFirst("boss")
	must(t, err)
	p := open(t, desk, m.url+"#/welcome?token="+invitation)
	p.until("document.querySelector('input[name=again]') && document.querySelector('input[name=name]').value === 'boss'")
	p.tabTo("input[name=password]")
	p.keys("a phrase of some words\ta phrase of some words" + kb.Enter)
	p.until("location.hash === '#/' && document.querySelector('.who a')?.textContent === 'boss'")
	p.says("section.join", "pathwise serve --reach 192.0.2.5")
	p.tabTo("section.join button")
	p.keys(kb.Enter)
	p.says("section.join pre", "echo 'pathwise-join:x' | pathwise agent --join")
	p.withAxe()
	p.accessible("an invitation")
	p.run(chromedp.Evaluate[chromedp.Void]("document.querySelector('.who button').click()"))
	p.until("document.querySelector('.tools > a')?.textContent === 'Sign in'")
	p.show("#/sign-in", desk, false)
	p.until("document.querySelector('input[name=name]').value === 'boss'")
	p.tabTo("input[name=password]")
	p.keys("a phrase of some words" + kb.Enter)
	p.until("document.querySelector('.who a')?.textContent === 'boss'")
	p.show("#/account", desk, false)
	p.until("document.querySelector('#accounts') && document.querySelector('#tokens') && document.querySelector('#audit')")
	p.tabTo("#accounts ~ form input[name=name]")
	p.keys("ann\t\t" + kb.Enter)
	p.until("document.querySelector('.note pre')?.textContent.includes('#/welcome?token=') && document.body.textContent.includes('a link until')")
	p.tabTo("#tokens ~ form input[name=name]")
	p.keys("script" + kb.Enter)
	p.until("/^pathwise_/.test(document.querySelector('#tokens ~ .note pre')?.textContent)")
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	must(t, err)
	p.run(chromedp.Evaluate[chromedp.Void](string(axe) + ";void 0"))
	p.accessible("account")
	p.tabTo("[aria-label='Remove token script']")
	p.keys(kb.Enter)
	p.until("document.querySelector('[aria-label=\"Yes, remove token script\"]')")
	p.tabTo("[aria-label='Yes, remove token script']")
	p.keys(kb.Enter)
	p.until("!document.querySelector('#tokens').parentElement.querySelector('tbody th')")
	p.show("#/", desk, false)
	p.until(matrixPainted)
	p.show("#/account", desk, false)
	p.until("document.querySelector('#audit').parentElement.textContent.includes('script')")
	_, _, err = m.Accounts.SignIn(t.Context(), "boss", "a phrase of some words", netip.MustParseAddr("127.0.0.1"))
	must(t, err)
}
