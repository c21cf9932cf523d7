package sock

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// attemptDelay is how long one address may take before the next is tried, too (RFC 8305, 5: the Connection Attempt Delay).
const attemptDelay = 250 * time.Millisecond

// Connect opens a TCP connection to the first of addresses that answers. The next address is tried as soon as the one before
// it has failed, or has not answered within 250 ms; connections that come second are closed. dialer says what else a
// connection is to be. The error is the only address's, or those of all.
func Connect(ctx context.Context, dialer *net.Dialer, addresses []netip.AddrPort) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	type outcome struct {
		conn net.Conn
		err  error
	}
	outcomes := make(chan outcome, len(addresses)) // so that no attempt waits for somebody to hear of it
	begun, ended := 0, 0
	defer func() {
		cancel()
		for ; ended < begun; ended++ {
			if late := <-outcomes; late.conn != nil {
				late.conn.Close()
			}
		}
	}()
	next := time.NewTimer(0)
	defer next.Stop()
	var errs []error
	for ended < len(addresses) {
		select {
		case <-next.C:
			if begun == len(addresses) {
				continue
			}
			address := addresses[begun].String()
			begun++
			go func() {
				conn, err := dialer.DialContext(ctx, "tcp", address)
				outcomes <- outcome{conn, err}
			}()
			next.Reset(attemptDelay)
		case o := <-outcomes:
			ended++
			if o.err == nil {
				return o.conn, nil
			}
			errs = append(errs, o.err)
			next.Reset(0)
		}
	}
	if len(errs) == 1 {
		return nil, errs[0]
	}
	return nil, errors.Join(errs...)
}
