package main

import (
	"bytes"
	"os"
	"testing"
)

// Exit statuses, as the contract fixes them: 2 for a wrong call, 1 for what could not be measured.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"version"}, exitDone},
		{[]string{"calc", "bdp", "--rate", "100mbit", "--rtt", "50ms"}, exitDone},
		{[]string{"frobnicate"}, exitBadCall},
		{[]string{"throughput"}, exitBadCall},
		{[]string{"throughput", "127.0.0.1", "--window", "0"}, exitBadCall},
		{[]string{"throughput", "127.0.0.1", "--rate", "-1"}, exitBadCall},
		{[]string{"diagnose", "no-such-host.invalid"}, exitBadCall},
		{[]string{"lab", "up", "/no/such/file"}, exitBadCall},
		{[]string{"throughput", "127.0.0.1", "--port", "9"}, exitFailed},
		{[]string{"diagnose", "127.0.0.1", "--port", "9"}, exitFailed},
		{[]string{"lab", "truth", "--name", "nobody-has-this"}, exitFailed},
		{[]string{"lab", "truth", "--follow", "--name", "nobody-has-this"}, exitFailed},
		{[]string{"lab", "capture", "bob", "-w", os.DevNull, "--name", "nobody-has-this"}, exitFailed},
		{[]string{"lab", "route", "a", "b", "c", "--name", "nobody-has-this"}, exitFailed},
		{[]string{"lab", "run", "/no/such/file"}, exitBadCall},
		{[]string{"lab", "from", "/no/such/file"}, exitBadCall},
		{[]string{"lab", "topologies"}, exitDone},
		{[]string{"lab", "topologies", "klein-bottle"}, exitBadCall},
		{[]string{"lab", "show", "--live"}, exitBadCall},
		{[]string{"lab", "gateway", "none-such0", "none-such1"}, exitBadCall},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(c.args, nil, &stdout, &stderr); got != c.want {
			t.Errorf("pathwise %v: exit status %d, want %d: %s", c.args, got, c.want, stderr.String())
		}
		if lines := bytes.Count(stderr.Bytes(), []byte("\n")); c.want != exitDone && lines != 1 {
			t.Errorf("pathwise %v: %d lines of complaint, want 1:\n%s", c.args, lines, stderr.String())
		}
	}
}
