package web

import (
	"net/http"
	"testing"
)

// Who takes no gzip gets none, and all who ask about so long ago within a while get the same.
func TestMatrixIsSentAsAsked(t *testing.T) {
	b := newBench(t)
	b.serve(b.Handler(public))
	for takes, want := range map[string]string{"gzip": "gzip", "gzip;q=0": "", "br": ""} {
		answer := b.call(t.Context(), http.MethodGet, "/api/v1/matrix?metric=rtt_median_seconds&at=-1h", "", "Accept-Encoding", takes)
		_ = answer.Body.Close()
		if got := answer.Header.Get("Content-Encoding"); answer.StatusCode != http.StatusOK || got != want {
			t.Errorf("%s: %s of %q", takes, answer.Status, got)
		}
	}
	if n := len(b.matrices.kept); n > 2 { // the while may have ended between them
		t.Errorf("three who ask the same have %d drawings made", n)
	}
}
