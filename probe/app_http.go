package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// httpScheme asks a web server for a path (RFC 9110), over a connection of its own. The round trip is from asking for the connection to the
// first byte of the answer; what follows the head of the answer is not read. Any status below 500 is an answer; 5xx are the server's failures
// (RFC 9110 section 15.6).
func httpScheme() appScheme {
	return appScheme{name: schemeHTTP, port: portHTTP, takes: []string{"name", "path"}, ahead: 600, back: 16e3, // the first window of an answer
		remedy: "is a web server running there?", service: func(p App) (appService, error) { return httpService{p}, nil }}
}

// httpsScheme asks a web server as httpScheme does, over TLS, whose handshake is part of the round trip.
func httpsScheme() appScheme {
	s := httpScheme()
	s.name, s.port, s.ahead, s.back = schemeHTTPS, portHTTPS, s.ahead+1500, s.back+5500
	return s
}

type httpService struct{ App }

func (s httpService) exchange(ctx context.Context, to netip.AddrPort) (a appAnswer, err error) {
	conn, began, err := dialApp(ctx, to, &a)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	defer endWith(ctx, conn)()
	if s.Scheme == schemeHTTPS {
		if conn, err = a.secureAs(ctx, conn, s.Name, s.Roots); err != nil {
			return a, err
		}
	}
	request, err := s.request()
	if err != nil {
		return a, err
	}
	asked := time.Now()
	if err := request.Write(conn); err != nil {
		return a, err
	}
	reader := bufio.NewReader(io.LimitReader(conn, fetchHead))
	if _, err := reader.Peek(1); err != nil {
		return a, closedEarly(err)
	}
	a.first, a.rtt = time.Since(asked), time.Since(began)
	answer, err := http.ReadResponse(reader, request)
	if err != nil {
		return a, fmt.Errorf("what answers speaks no HTTP: %w", err)
	}
	answer.Body.Close()
	if a.said = answer.Status; answer.StatusCode >= http.StatusInternalServerError {
		return a, fmt.Errorf("the server answers %q", answer.Status)
	}
	return a, nil
}

func (s httpService) request() (*http.Request, error) {
	host := s.Name
	if s.Port != s.scheme().port {
		host = net.JoinHostPort(s.Name, strconv.Itoa(s.Port))
	} else if addr, err := netip.ParseAddr(s.Name); err == nil && addr.Is6() {
		host = "[" + s.Name + "]"
	}
	r, err := http.NewRequest(http.MethodGet, s.Scheme+"://"+host+s.Path, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Close = true
	r.Header.Set("User-Agent", "pathwise")
	return r, nil
}

// closedEarly says what the end of a connection means before an answer.
func closedEarly(err error) error {
	if err == io.EOF {
		return fmt.Errorf("the server closed the connection without an answer")
	}
	return err
}
