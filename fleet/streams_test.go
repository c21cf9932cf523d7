package fleet

import (
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Streams of an earlier release, which would answer deliveries in place of the controller, are removed; those of somebody else
// with the same name are left, and keep the controller from starting.
func TestStreamsOfEarlierReleases(t *testing.T) {
	k := testKeyring(t)
	config := natsConfig(t, k, "127.0.0.1:-1")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	operator := "    jetstream: enabled\n    users: [{user: operator, password: x}\n"
	write(t, config, "jetstream: {store_dir: "+t.TempDir()+"}\n"+strings.Replace(string(text), "    users: [\n", operator, 1))
	_, address := child(t, "nats", config, nil)
	nc, err := nats.Connect("nats://operator:x@" + address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream := func(name, subject, description string) {
		t.Helper()
		c := jetstream.StreamConfig{Name: name, Subjects: []string{subject}, Description: description, Storage: jetstream.MemoryStorage}
		if _, err := js.CreateStream(within(t), c); err != nil {
			t.Fatal(err)
		}
	}
	open := func() error {
		h, err := OpenHub(within(t), HubConfig{Keys: k, Outside: &Outside{URL: "nats://" + address}})
		if err == nil {
			h.Close()
		}
		return err
	}
	stream(streamPlans, "pathwise.plan.*", "Pathwise: the last plan of each host")
	stream(streamResults, "pathwise.result.*", "Pathwise: results on their way to the archive")
	if err := open(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{streamPlans, streamResults} {
		if _, err := js.Stream(within(t), name); err == nil {
			t.Errorf("stream %s is still there", name)
		}
	}
	stream(streamResults, "pathwise.result.*", "ours")
	if err := open(); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("beside somebody's stream: %v", err)
	}
}
