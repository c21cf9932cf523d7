package control

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// What a mesh file says to no effect is in the log when the file comes in force.
func TestNotesAreLogged(t *testing.T) {
	b := newBench(t, twoHosts+someTests)
	said := &bytes.Buffer{}
	b.config.Log = slog.New(slog.NewTextHandler(said, nil))
	b.write(strings.Replace(twoHosts+someTests, "{horizon: 30m}", "{horizon: 30m, nats: {url: tls://a.example.org, replicas: 3}}", 1))
	if err := b.reread(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "controller.nats.replicas has no effect") {
		t.Errorf("log: %s", said)
	}
}
