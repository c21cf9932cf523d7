package respond

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// A responder of a run lets two tests in at the same time where the run says so, each by its own secret, and closes when all came. Another run's has room for one.
func TestTogether(t *testing.T) {
	secret := "abcdefghijklmnopqrstuvwxyz0123456789"
	kind, _ := KindOf(measure.ResponderIperf3)
	for _, together := range []int{0, 2} {
		opened, err := kind.OpenForRun(t.Context(), "127.0.0.1:0", Run{Secret: secret, Tests: 2, Together: together}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		served := make(chan error, 1)
		go func() { served <- opened.Serve(ctx) }()
		var group sync.WaitGroup
		errs := make([]error, 2)
		for i, cookie := range []string{secret, measure.CompetingSecret(secret)} {
			group.Go(func() {
				client := iperf3.Client{Addr: opened.Addr.(*net.TCPAddr).String(), Config: iperf3.Config{Duration: time.Second, Rate: 1e6, Cookie: cookie}}
				_, errs[i] = client.Run(ctx)
			})
		}
		group.Wait()
		if together == 2 && (errs[0] != nil || errs[1] != nil) {
			t.Errorf("together: %v, %v", errs[0], errs[1])
		}
		if together == 0 && !errors.Is(errors.Join(errs...), iperf3.ErrBusy) {
			t.Errorf("one at a time: %v, %v", errs[0], errs[1])
		}
		if together == 0 {
			cancel()
		}
		if err := <-served; err != nil || together == 2 && ctx.Err() != nil {
			t.Errorf("%d together: %v, %v", together, err, ctx.Err())
		}
	}
}
