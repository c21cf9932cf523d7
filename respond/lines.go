package respond

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"time"

	"github.com/pathwise-net/pathwise/proto/arrived"
	"github.com/pathwise-net/pathwise/proto/ndt7"
	"github.com/pathwise-net/pathwise/proto/reach"
	"github.com/pathwise-net/pathwise/proto/retrace"
)

// linesOf serves those protocols that are lines of JSON, which the first line tells apart by its schema.
func linesOf(t terms) func(context.Context, net.Conn) {
	ports, routes := reach.NewResponder(t.NoConnectBack, t.log), retrace.NewResponder(t.TraceBack, t.NoConnectBack, t.log)
	return func(ctx context.Context, conn net.Conn) {
		first, all := firstLine(conn)
		of := func(schema string) bool { return bytes.Contains(first, []byte(`"`+schema+`"`)) }
		switch {
		case of(retrace.Schema):
			routes.Serve(ctx, all)
		case of(arrived.Schema):
			arrived.Serve(all, func() ([]byte, error) { syn, err := ndt7.SYNOfLines(conn); return syn.Headers, err })
		default:
			ports.Serve(ctx, all) // which says what is wrong with any other
		}
	}
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
