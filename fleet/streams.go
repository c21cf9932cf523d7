package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// resultsBytes bounds what waits for the archive; then agents keep their Results until there is room.
	resultsBytes = 256 << 20
	// resultsPerHost messages of one host may wait, so that one that runs wild leaves room for the others.
	resultsPerHost = 256
	// consumerName is of the one reader of RESULTS.
	consumerName = "archive"
	// unacknowledged messages are being filed at once, at most: 512 of half a megabyte at worst, of some KB as a rule.
	unacknowledged = 512
	// filingTime is how long the archive may take before the Results come again.
	filingTime = 2 * time.Minute
)

// ensure makes the streams and their reader where they are missing. What an operator made is left as it is.
func (h *NATSHub) ensure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for _, want := range h.streams() {
		_, err := h.js.Stream(ctx, want.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			_, err = h.js.CreateStream(ctx, want)
		}
		if err != nil {
			return fmt.Errorf("make stream %s: %w", want.Name, err)
		}
	}
	return nil
}

func (h *NATSHub) streams() []jetstream.StreamConfig {
	plans := jetstream.StreamConfig{
		Name: streamPlans, Description: "Pathwise: the last plan of each host", Subjects: []string{subjectPlan + "*"},
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardOld, AllowDirect: true,
	}
	results := jetstream.StreamConfig{
		Name: streamResults, Description: "Pathwise: results on their way to the archive",
		Subjects: []string{subjectResult + "*"}, Retention: jetstream.WorkQueuePolicy,
		MaxBytes: resultsBytes, MaxMsgsPerSubject: resultsPerHost, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
	}
	both := []jetstream.StreamConfig{plans, results}
	for i := range both {
		both[i].DenyPurge, both[i].DenyDelete = true, i == 0 // an agent may make the server answer to any subject
		both[i].Storage = jetstream.MemoryStorage
		if h.outside != nil { // it outlives the controller
			both[i].Storage, both[i].Replicas = jetstream.FileStorage, h.outside.Replicas
		}
	}
	return both
}

func (h *NATSHub) consumer(ctx context.Context) (jetstream.Consumer, error) {
	if err := h.ensure(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	c, err := h.js.CreateOrUpdateConsumer(ctx, streamResults, jetstream.ConsumerConfig{
		Durable: consumerName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: filingTime, MaxAckPending: unacknowledged,
	})
	if err != nil {
		return nil, fmt.Errorf("read stream %s: %w", streamResults, err)
	}
	return c, nil
}
