package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A file that says what has no effect any more is read, and told of it.
func TestNotes(t *testing.T) {
	const replicas = "controller.nats.replicas has no effect: nothing is kept in the cluster any more"
	for nats, want := range map[string][]string{
		"{url: tls://a}": {}, `{listen: ":4222"}`: {},
		"{url: tls://a, replicas: 1}": {replicas}, "{url: tls://a, replicas: 5}": {replicas},
	} {
		m, err := Parse([]File{{"f", []byte("controller: {nats: " + nats + "}\nhosts: {a: 10.0.0.1}\n")}}, nil)
		if err != nil {
			t.Errorf("%s: %v", nats, err)
			continue
		}
		if diff := cmp.Diff(want, m.Notes()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", nats, diff)
		}
	}
}
