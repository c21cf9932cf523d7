package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"

	"github.com/pathwise-net/pathwise/account"
)

// openAccounts opens the accounts of the controller's folder. Tokens of earlier releases are taken over.
func (s *session) openAccounts(data string, log *slog.Logger) (*account.Book, error) {
	book, err := account.Open(data, account.Options{Log: log})
	if err != nil {
		return nil, err
	}
	if _, err := book.AdoptTokens(); err != nil {
		return nil, errors.Join(err, book.Close())
	}
	return book, nil
}

// inviteFirst prints the link by which the first administrator sets a password, as long as there is none. Each start makes the
// link of the one before void.
func (s *session) inviteFirst(book *account.Book, base *url.URL) error {
	invitation, err := book.InviteFirst("admin")
	if err != nil || invitation == "" {
		return err
	}
	below := ""
	if base.Host == "" {
		below = " below the proxy's address"
	}
	fmt.Fprintf(s.err, "no administrator has a password yet; whoever opens this%s within a day sets it, once:\n  %s\n",
		below, welcomeLink(base, invitation))
	return nil
}

// sayHowToSignIn says what to do where the pages come by plain HTTP to other machines, and so take no password there. It returns
// where they are through a tunnel.
func (s *session) sayHowToSignIn(at *net.TCPAddr) *url.URL {
	name, err := os.Hostname()
	if err != nil {
		name = "CONTROLLER"
	}
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	near := &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port))}
	fmt.Fprintf(s.err, "over plain HTTP others on the way can read what is typed, so nobody can sign in from another machine. "+
		"Go through a tunnel,\n"+
		"  ssh -L %d:%s %s\nand open %s there; or name a certificate under controller.tls in the mesh file; or put a proxy with HTTPS\n"+
		"before it, named under controller.proxies\n", at.Port, net.JoinHostPort(host, strconv.Itoa(at.Port)), name, near)
	return near
}

// inviteAgain makes the link by which the first administrator of the controller with this folder sets a password, and makes earlier ones
// void.
func inviteAgain(data string, page *url.URL) (link string, err error) {
	book, err := account.Open(data, account.Options{})
	if err != nil {
		return "", err
	}
	invitation, err := book.InviteFirst("admin")
	if err := errors.Join(err, book.Close()); err != nil {
		return "", err
	}
	return welcomeLink(page, invitation), nil
}

// welcomeLink is where an invitation is taken up.
func welcomeLink(base *url.URL, invitation string) string {
	return base.String() + "/#/welcome?token=" + url.QueryEscape(invitation)
}

// pageURL is where a listener is reached: by this machine's name, where it listens on all of its addresses. Behind proxies it is
// empty: they know under which address they show it, and a password that does not come through them may be refused.
func pageURL(scheme string, at *net.TCPAddr, proxies []netip.Prefix) *url.URL {
	if len(proxies) > 0 {
		return &url.URL{}
	}
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	return &url.URL{Scheme: scheme, Host: net.JoinHostPort(host, strconv.Itoa(at.Port))}
}
