package main

import (
	"bytes"
	"strings"
	"testing"
)

// A command that can do without a HOST measures this host then, as a kind of probe that is no wrong call, and takes one at the most.
func TestSocketsWithoutHost(t *testing.T) {
	results, status, complaint := measuredBy(t, []string{"sockets", "--json", "-t", "20ms", "-i", "10ms"})
	if status != exitDone || len(results) != 1 || results[0].Kind != "sockets" || results[0].Target.Name != results[0].Source.Name {
		t.Errorf("exit status %d, %+v: %s", status, results, complaint)
	}
	for call, want := range map[string]string{
		"sockets bob carol":         `"carol": one argument too many; usage: pathwise sockets [HOST[:PORT]]`,
		"sockets --state open":      `"open": want established, syn-sent`,
		"sockets bob:5001 --port 5": `"5": bob:5001 says 5001; give one of the two`,
	} {
		var out, said bytes.Buffer
		if status := run(strings.Fields(call), nil, &out, &said); status != exitBadCall || !strings.Contains(said.String(), want) {
			t.Errorf("%s: exit status %d, %q, want %q", call, status, said.String(), want)
		}
	}
}
