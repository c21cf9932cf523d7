package iperf3

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A stock server resets what waits for it when a test is over. That is no end of a test that has not begun.
func TestStockServerGetsReady(t *testing.T) {
	addr, server := startStock(t)
	before, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	cookie := Cookie{}
	if _, err := before.Write(cookie[:]); err != nil {
		t.Fatal(err)
	}
	before.SetDeadline(time.Now().Add(5 * time.Second))
	if state, err := ReadState(before); err != nil || state != ParamExchange {
		t.Fatalf("state %v, error %v, want %v", state, err, ParamExchange)
	}
	signal(t, server, syscall.SIGSTOP)
	defer signal(t, server, syscall.SIGCONT)
	before.Close() // the end of a test, which the server does not see yet
	over := make(chan error, 1)
	go func() {
		_, err := (&Client{Addr: addr, Config: Config{Duration: 100 * time.Millisecond}}).Run(context.Background())
		over <- err
	}()
	eventually(t, func() error { return waiting(addr) })
	signal(t, server, syscall.SIGCONT)
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// waiting is ErrBusy while no connection to addr stands.
func waiting(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return err
	}
	number := 0
	if _, err := fmt.Sscan(port, &number); err != nil {
		return err
	}
	for line := range strings.Lines(string(table)) { // sl, local address, remote address, state, of which 1 is ESTABLISHED
		f := strings.Fields(line)
		if strings.HasSuffix(f[2], fmt.Sprintf(":%04X", number)) && f[3] == "01" {
			return nil
		}
	}
	return ErrBusy
}

func signal(t *testing.T, p *os.Process, s os.Signal) {
	t.Helper()
	if err := p.Signal(s); err != nil {
		t.Error(err)
	}
}
