package respond

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/proto/arrived"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/jsonlines"
	"github.com/pathwise-net/pathwise/proto/ndt7"
	"github.com/pathwise-net/pathwise/proto/reach"
	"github.com/pathwise-net/pathwise/proto/retrace"
)

// linesOf serves those protocols that are lines of JSON, which the first line tells apart by its schema. Where it is open for a run, the first line has to
// show the run's secret, and fresh ports are not tried: one request is one test of the run, which failed where nothing came of it.
func linesOf(t terms) func(context.Context, net.Conn) {
	ports, routes := reach.NewResponder(t.NoConnectBack, t.log), retrace.NewResponder(t.TraceBack, t.NoConnectBack, t.log)
	return func(ctx context.Context, conn net.Conn) {
		first, all := firstLine(conn)
		of := func(schema string) bool { return bytes.Contains(first, []byte(`"`+schema+`"`)) }
		if t.shown != "" && (!showsSecret(first, t.shown) || of(reach.Schema)) {
			jsonlines.Begin(conn, jsonlines.LastTimeout, mostFirst).SayLast(map[string]string{"error": "it is open for one run alone, whose secret this is not"})
			return
		}
		tested := Tested{Client: endpoint.AddrPort(conn.RemoteAddr())}
		switch {
		case of(retrace.Schema):
			sent, err := routes.Serve(ctx, all)
			tested.Bytes, tested.Err = int64(sent), err
		case of(arrived.Schema):
			tested.Err = arrived.Serve(all, func() ([]byte, error) { syn, err := ndt7.SYNOfLines(conn); return syn.Headers, err })
		default:
			tested.Err = ports.Serve(ctx, all) // which says what is wrong with any other
		}
		if t.onTest != nil {
			t.onTest(tested)
		}
	}
}

// showsSecret reports whether a first line has the secret of a run, in a time that says nothing of where it differs.
func showsSecret(line []byte, secret string) bool {
	var shown struct {
		Secret string `json:"secret"`
	}
	if err := document.JSON(line, mostFirst, &shown); err != nil {
		return false
	}
	is, want := sha256.Sum256([]byte(shown.Secret)), sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(is[:], want[:]) == 1
}

// Of the first line: more than the bytes of any, and how long it may take.
const (
	mostFirst    = 2048
	firstTimeout = 10 * time.Second
)

// firstLine is what comes first, as far as it comes in time, and the connection from its beginning.
func firstLine(conn net.Conn) (line []byte, all net.Conn) {
	_ = conn.SetReadDeadline(time.Now().Add(firstTimeout)) // fails only on a closed connection, as reading does
	rest := bufio.NewReaderSize(conn, mostFirst)
	line, _ = rest.ReadSlice('\n') // who serves the connection meets the same error, if it lasts
	line = bytes.Clone(line)
	return line, &begun{Conn: conn, all: io.MultiReader(bytes.NewReader(line), rest)}
}

// begun is a connection of which something was read, which it yields again.
type begun struct {
	net.Conn
	all io.Reader
}

func (b *begun) Read(p []byte) (int, error) { return b.all.Read(p) }
