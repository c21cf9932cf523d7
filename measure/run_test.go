package measure

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A repetition is the run, later, under an ID and a secret of its own, which come out alike wherever they are reckoned.
func TestRunAgain(t *testing.T) {
	start := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	run := Run{
		ID: "01KAG0000000000000000000AB", Tool: "bulk", Source: "a", Target: "b", Start: start, LimitSeconds: 20,
		Responder: &Responder{Kind: ResponderIperf3, Port: 5201, Secret: "abcdefghijklmnopqrstuvwxyz0123456789"},
	}
	first, second := run.Again(1, time.Hour), run.Again(2, 2*time.Hour)
	if diff := cmp.Diff(first, run.Again(1, time.Hour)); diff != "" {
		t.Errorf("not the same twice (-first +second):\n%s", diff)
	}
	want := run
	want.ID, want.Start = IDAgain(run.ID, 2, 2*time.Hour), start.Add(2*time.Hour)
	want.Responder = &Responder{Kind: ResponderIperf3, Port: 5201, Secret: SecretAgain(run.Responder.Secret, 2)}
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("second repetition (-want +got):\n%s", diff)
	}
	ids := map[string]bool{run.ID: true, first.ID: true, second.ID: true}
	secrets := map[string]bool{run.Responder.Secret: true, first.Responder.Secret: true, second.Responder.Secret: true}
	if len(ids) != 3 || len(secrets) != 3 {
		t.Errorf("IDs %v, secrets %v: not all different", ids, secrets)
	}
	if len(second.ID) != 26 || len(second.Responder.Secret) != len(run.Responder.Secret) || second.ID < first.ID || first.ID < run.ID {
		t.Errorf("IDs %s %s %s: want ULIDs in order of time", run.ID, first.ID, second.ID)
	}
}

// No way of printing a run shows its secret.
func TestResponderHidesSecret(t *testing.T) {
	run := Run{Responder: &Responder{Kind: ResponderIperf3, Secret: "hush"}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, *run.Responder) + fmt.Sprintf(verb, run.Responder); strings.Contains(text, "hush") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}
