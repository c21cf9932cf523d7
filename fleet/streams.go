package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/pathwise-net/pathwise/input"
)

// Streams of JetStream through which earlier releases carried plans and Results.
const (
	streamPlans   = "PLANS"
	streamResults = "RESULTS"
	// streamNote is how the descriptions begin of those that a controller made.
	streamNote = "Pathwise: "
)

// removeStreams removes from an outside cluster what an earlier release kept there. What lies in them is kept elsewhere,
// too: plans by the controller, Results in the spools. They have to go: a stream answers deliveries in place of the hub.
func (h *NATSHub) removeStreams(ctx context.Context) error {
	js, err := jetstream.New(h.nc, jetstream.WithDefaultTimeout(callTime))
	if err != nil {
		return err
	}
	for _, name := range []string{streamPlans, streamResults} {
		stream, err := js.Stream(ctx, name)
		if none(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look for stream %s: %w", name, err)
		}
		if c := stream.CachedInfo().Config; !strings.HasPrefix(c.Description, streamNote) {
			return input.Errorf("nats: stream %s keeps %v, which it must not: remove it", name, c.Subjects)
		}
		if err := js.DeleteStream(ctx, name); err != nil && !none(err) {
			return fmt.Errorf("remove stream %s: %w", name, err)
		}
		h.log.Info("removed a stream of an earlier release", "stream", name)
	}
	return nil
}

// none says that there is no such stream, or no JetStream.
func none(err error) bool {
	for _, target := range []error{jetstream.ErrStreamNotFound, jetstream.ErrJetStreamNotEnabled,
		jetstream.ErrJetStreamNotEnabledForAccount, nats.ErrNoResponders} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}
