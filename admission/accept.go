package admission

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"
)

// acceptPause is how long Accept waits where no connection can be had, such as for want of descriptors: they come back when others end.
const acceptPause = 50 * time.Millisecond

// Accept hands the connections of a listener to admit, in their order, until ctx ends, and then returns nil. Whoever calls it closes the
// listener when ctx ends; an error is that it was closed before. What else keeps a connection from being accepted is logged, and tried
// again.
func Accept(ctx context.Context, l net.Listener, log *slog.Logger, admit func(net.Conn)) error {
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			admit(conn)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("accept connection: %w", err)
		default:
			log.Warn("accept connection", "error", err)
			select {
			case <-time.After(acceptPause):
			case <-ctx.Done():
			}
		}
	}
}
