package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"github.com/pathwise-net/pathwise/input"
)

// Stdio is the agent's end of the channel that started it: its credentials are the first line that comes in, the rest is
// the same protocol as over the network. Use both in a LinkConfig with Once: when the channel ends, so does the agent.
func Stdio(in io.Reader, out io.WriteCloser) (*Credentials, Dial, error) {
	r := bufio.NewReaderSize(in, 64<<10) // credentials take some 2 KB
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil, nil, input.Errorf("credentials: the first line of standard input is longer than %d bytes", r.Size())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read credentials from standard input: %w", err)
	}
	c, err := parseCredentials(line)
	if err != nil {
		return nil, nil, err
	}
	var used atomic.Bool
	return c, func(context.Context) (net.Conn, error) {
		if used.Swap(true) {
			return nil, fmt.Errorf("dial the controller: the channel was used: %w", io.EOF)
		}
		near, far := net.Pipe() // which has deadlines: reading standard input has none
		go join(far, r, out)
		return near, nil
	}, nil
}

// join carries bytes both ways until one end is over, and then closes both. It returns when out takes no more; a Read of
// in may last until that is closed, too.
func join(c net.Conn, in io.Reader, out io.WriteCloser) {
	var once sync.Once
	end := func() { once.Do(func() { c.Close(); out.Close() }) }
	go func() {
		io.Copy(c, in)
		end()
	}()
	io.Copy(out, c)
	end()
}

// Carry is the other end of Stdio: it hands an agent its credentials through out, and then carries bytes between it and the server until
// one of them ends. It closes server and out.
func Carry(c *Credentials, server net.Conn, in io.Reader, out io.WriteCloser) error {
	if err := c.WriteLine(out); err != nil {
		return errors.Join(err, server.Close(), out.Close())
	}
	join(server, in, out)
	return nil
}
