package endpoint

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/admission"
)

const (
	// GreetTimeout is how long a client may take to show what it came for: its first bytes come with the handshake, or a few time-outs later.
	GreetTimeout = 10 * time.Second
	// Connections of one network and in all that have not yet shown that.
	greetingsEach, greetingsAll = 64, 1024
)

// Door lets connections over TCP in, each of which has a goroutine of its own. It is used for one Serve.
type Door struct {
	Protocol string       // for its log
	Peer     netip.Addr   // the only host that may come; the zero value: any
	Log      *slog.Logger // nil: silent
	// Greet serves a connection, which is closed when it returns or ctx ends. It calls shown when the client has shown what it came for: until
	// then the connection is one of few that its network may have.
	Greet func(ctx context.Context, conn net.Conn, from netip.Addr, shown func())

	greetings *admission.Count
	group     sync.WaitGroup
}

// Serve lets in who comes to a listener until ctx ends. It then ends what it let in, waits for every goroutine, closes the listener and returns nil.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	d.prepare()
	ctx, cancel := context.WithCancel(ctx)
	defer d.group.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { l.Close() })()
	defer l.Close()
	return admission.Accept(ctx, l, d.Log, func(conn net.Conn) { d.admit(ctx, conn) })
}

func (d *Door) prepare() {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	d.greetings = admission.NewCount(admission.Limits{Each: greetingsEach, All: greetingsAll})
}

// admit hands a connection to a goroutine, if its host may come and has not too many that have shown nothing yet.
func (d *Door) admit(ctx context.Context, conn net.Conn) {
	from := AddrPort(conn.RemoteAddr()).Addr()
	if d.Peer.IsValid() && from != d.Peer.Unmap().WithZone("") {
		d.Log.Info(d.Protocol+" from who is not the peer", "client", conn.RemoteAddr())
		conn.Close()
		return
	}
	if in, _ := d.greetings.Take(from); !in {
		conn.Close()
		return
	}
	d.group.Go(func() {
		shown := sync.OnceFunc(func() { d.greetings.GiveBack(from) })
		defer shown()
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.Close() })()
		d.Greet(ctx, conn, from, shown)
	})
}
