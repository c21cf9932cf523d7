package respond

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/ndt7"
	"github.com/pathwise-net/pathwise/respond/page"
	"github.com/pathwise-net/pathwise/respond/seen"
	"github.com/pathwise-net/pathwise/sock"
)

// ndt7Kind is a server of ndt7, which shows browsers a page that runs its tests, and on the same port traces routes back and tells what SYNs looked like as they
// arrived. The secret of a run is the access token of each test, and what those who ask for the others have to show.
func ndt7Kind() Kind {
	return Kind{
		Name: measure.ResponderNDT7, Meaning: "speed tests of browsers and of any ndt7 client",
		Probes: []string{"ndt7", "trace"}, Protocols: []string{"tcp"}, Port: ndt7.DefaultPort,
		// Two tests at once would halve each other's figures. Ten seconds are the longest that the protocol has.
		Limits: Limits{Tests: 1, Longest: 10 * time.Second},
		Fills:  true, Always: true,
		check: checkToken,
		open:  openNDT7,
	}
}

var errNoToken = errors.New("want a secret, which is the access token of the run's tests")

func checkToken(secret string) error {
	if secret == "" {
		return errNoToken
	}
	return nil
}

func openNDT7(ctx context.Context, address string, t terms) (net.Addr, serve, error) {
	listener, err := ndt7.Listen(ctx, address)
	if err != nil {
		return nil, nil, err
	}
	server := &ndt7.Server{Log: t.log, Certificate: t.NDT7.Certificate, Policy: ndt7.Policy{Tests: t.Tests, Longest: t.Longest, Secret: t.secret,
		Peer: t.peer, Congestion: t.NDT7.Congestion}}
	if t.secret == "" { // a browser has none to show
		pages := http.NewServeMux()
		pages.Handle("GET /seen.json", seen.Handler(ndt7.SYNOf))
		pages.Handle("/", page.Handler())
		server.Pages, server.Plain = pages, func(s sock.SYN) string { return seen.Of(s).Text() }
	}
	server.Lines = linesOf(t)
	if t.onTest != nil {
		server.OnTest = func(one ndt7.Tested) { t.onTest(Tested{Client: one.Client, Bytes: one.Bytes, Err: one.Err}) }
	}
	return listener.Addr(), func(ctx context.Context) error { return server.Serve(ctx, listener) }, nil
}
