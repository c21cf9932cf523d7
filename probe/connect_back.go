package probe

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/connect"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/reach"
)

// back asks the responder at the port that was tried about fresh ports. Where no connection to it opens there is nobody to ask, which is no error: why
// it does not open is what was found.
func (r *connectRun) back(ctx context.Context, check measure.PortCheck, result *measure.Result) error {
	if !connect.IsOpen(check.Finding) {
		result.Note("fresh ports were not tried: the responder that would do so is not reached")
		return nil
	}
	dialer := net.Dialer{Timeout: r.Timeout}
	dialer.SetMultipathTCP(false)
	conn, err := dialer.DialContext(ctx, "tcp", r.to.String())
	if err != nil {
		return fmt.Errorf("ask for fresh ports: %w", endpoint.ExplainOpening(ctx, err))
	}
	defer conn.Close()
	all, err := reach.Ask(ctx, conn)
	if err != nil {
		return err
	}
	result.Samples.Reach = &all
	return nil
}

// reachText writes what became of fresh ports, each way.
func reachText(w io.Writer, r *measure.Result) {
	all := r.Samples.Reach
	fmt.Fprintf(w, "fresh ports, opened for this alone; this host is %s, and there %s:\n", addressOf(all.Local), addressOf(all.Seen))
	for _, way := range all.Ways {
		whose := "of this host"
		if way.To == measure.ReachThere {
			whose = "of " + r.Target.Name
		}
		fmt.Fprintf(w, "  %s port %s: %s\n", map[string]string{"tcp": "TCP", "udp": "UDP"}[way.Protocol], whose, way.Says)
	}
}

// addressOf is the address of an address and port.
func addressOf(end string) string {
	host, _, err := net.SplitHostPort(end)
	if err != nil {
		return end
	}
	return host
}
