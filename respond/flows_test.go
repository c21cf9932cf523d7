package respond

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/flows"
	"github.com/pathwise-net/pathwise/traffic"
)

// beginFlows begins a test of one flow that lasts for d, and calls begun each second of it.
func beginFlows(ctx context.Context, address, secret string, d time.Duration, begun func()) (*flows.Test, *traffic.Script, error) {
	script, err := traffic.Parse(fmt.Sprintf("flow a end %v constant rate 100/s size 100", max(d, 20*time.Millisecond)), nil)
	if err != nil {
		return nil, nil, err
	}
	load, err := script.Load()
	if err != nil {
		return nil, nil, err
	}
	c := flows.Client{Secret: secret, Terms: flows.Terms{Longest: max(d, 500*time.Millisecond), Linger: 10 * time.Millisecond, Rate: load.Peak, Flows: load.Flows,
		Intervals: 1, Interval: max(d, 500*time.Millisecond)}}
	if begun != nil {
		c.OnSoFar = func([]flows.SoFar) { begun() }
	}
	test, err := c.Begin(ctx, []netip.AddrPort{netip.MustParseAddrPort(address)})
	return test, script, err
}

func testFlows(ctx context.Context, address, secret string, d time.Duration, begun func()) error {
	test, script, err := beginFlows(ctx, address, secret, d, begun)
	if err != nil {
		return err
	}
	_, err = test.Run(ctx, script)
	return err
}

// vanishFlows begins a test, and closes the connection before the responder has heard of its end.
func vanishFlows(t *testing.T, address, secret string) {
	t.Helper()
	test, _, err := beginFlows(t.Context(), address, secret, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	test.Close()
}
