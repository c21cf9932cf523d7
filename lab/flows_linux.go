package lab

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/lab/traffic"
)

// flowPort is the first TCP port of cross traffic: entry number k of the file's traffic uses flowPort + k.
const flowPort = 42000

// startFlows opens the real TCP flows of the file's traffic between hosts, each when it is due. They live as long as the
// lab: their goroutines end with the engine's process.
func (e *engine) startFlows() error {
	for k := range e.plan.Traffic {
		c := &e.plan.Traffic[k]
		if c.Kind != traffic.TCP {
			continue
		}
		listener, err := e.listenOn(c.To, flowPort+k)
		if err != nil {
			return fmt.Errorf("traffic: number %d: %w", k+1, err)
		}
		go swallow(listener)
		go e.sendFlows(c, k)
	}
	return nil
}

// listenOn listens on a host, with its own kernel settings.
func (e *engine) listenOn(host string, port int) (listener net.Listener, err error) {
	ns, err := e.host(host)
	if err != nil {
		return nil, err
	}
	err = ns.do(func() (err error) {
		listener, err = net.ListenTCP("tcp4", &net.TCPAddr{Port: port})
		return err
	})
	return listener, err
}

// swallow reads and forgets what every connection brings.
func swallow(listener net.Listener) {
	for {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			_, _ = io.Copy(io.Discard, c)
		}()
	}
}

// maxFlows of an entry run at once, each with some descriptors and buffers; the next one begins when one has ended.
const maxFlows = 1000

// sendFlows begins flows at their times. One that cannot connect is one that is not there: the path may be down.
func (e *engine) sendFlows(c *traffic.Config, k int) {
	generator := traffic.New(c, e.plan.Seed, k)
	running := make(chan struct{}, maxFlows)
	for {
		at, bytes, ok := generator.Next()
		if !ok {
			return
		}
		time.Sleep(time.Duration(at) - time.Since(e.pump.start))
		running <- struct{}{}
		go func() {
			defer func() { <-running }()
			conn, err := e.dialFrom(c, flowPort+k)
			if err != nil {
				return
			}
			defer conn.Close()
			send(conn, int64(bytes), e.pump.start.Add(time.Duration(c.Stop)), c.Stop > 0)
		}()
	}
}

// connectPatience is how long a flow may take to connect: a few retransmitted SYNs.
const connectPatience = 15 * time.Second

// dialFrom connects from one host to another. The socket is made on the host's thread, but the wait is not there: commands
// are started on that thread.
func (e *engine) dialFrom(c *traffic.Config, port int) (net.Conn, error) {
	ns, err := e.host(c.From)
	if err != nil {
		return nil, err
	}
	to, _ := e.plan.NodeByName(c.To)
	var s int
	err = ns.do(func() (err error) {
		s, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open socket: %w", err)
	}
	file := os.NewFile(uintptr(s), "flow")
	defer file.Close() // the connection has its own
	if c.DSCP != 0 {
		_ = unix.SetsockoptInt(s, unix.IPPROTO_IP, unix.IP_TOS, int(c.DSCP)<<2)
	}
	if err := connect(file, &unix.SockaddrInet4{Addr: e.plan.Address(to).As4(), Port: port}); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if c.CC != "" { // after connecting: a route may carry another, which holds until here
		if err := unix.SetsockoptString(s, unix.IPPROTO_TCP, unix.TCP_CONGESTION, c.CC); err != nil {
			return nil, fmt.Errorf("set congestion control: %w", err)
		}
	}
	return net.FileConn(file)
}

// connect waits as connections do in package net, without a thread.
func connect(file *os.File, to unix.Sockaddr) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	if err := file.SetWriteDeadline(time.Now().Add(connectPatience)); err != nil {
		return err
	}
	begun := false
	var outcome error
	err = raw.Write(func(fd uintptr) bool {
		if !begun {
			begun = true
			outcome = unix.Connect(int(fd), to)
			return outcome != unix.EINPROGRESS
		}
		var code int
		if code, outcome = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR); outcome == nil && code != 0 {
			outcome = unix.Errno(code)
		}
		if outcome != nil {
			return true
		}
		_, notYet := unix.Getpeername(int(fd)) // readiness from before the call may wake this early
		return notYet == nil
	})
	return errors.Join(err, outcome)
}

// send writes so many bytes, 0: any number, until the time to stop if there is one.
func send(c net.Conn, bytes int64, stop time.Time, stops bool) {
	if stops {
		_ = c.SetDeadline(stop)
	}
	block := make([]byte, 64<<10)
	for left := bytes; bytes == 0 || left > 0; {
		part := block
		if bytes > 0 {
			part = block[:min(int64(len(block)), left)]
		}
		n, err := c.Write(part)
		left -= int64(n)
		if err != nil {
			return
		}
	}
}
