package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/web/edit"
)

// lost is an archive whose database is not there.
type lost struct{ archive.Archive }

var errLost = errors.New("dial secret.example: no route to host")

func (lost) Pairs(context.Context) ([]archive.Pair, error) { return nil, errLost }
func (lost) Misses(context.Context, archive.MissQuery) ([]measure.Miss, error) {
	return nil, errLost
}

// A mesh file that is not the controller's to write is nobody's failure.
func TestReadOnlyIsForbidden(t *testing.T) {
	if got := statusOf(fmt.Errorf("save: %w", &edit.ReadOnly{What: "mesh.yaml", Err: syscall.EROFS})); got != http.StatusForbidden {
		t.Error(got)
	}
}

// Why something failed at the controller is for its log and for administrators.
func TestFailuresAreVeiled(t *testing.T) {
	b := newBench(t)
	b.Archive = lost{b.Archive}
	b.serve(b.Handler(public))
	for path, status := range map[string]int{"/api/v1/pairs": 500, "/api/v1/status": 200} {
		if got, text, _ := b.ask(http.MethodGet, path, ""); got != status || strings.Contains(text, "secret") {
			t.Errorf("%s: %d %s", path, got, text)
		}
	}
	b.expect(http.MethodGet, "/api/v1/status", "", 200, `"unread":"the archive does not answer"`)
	b.serve(b.Handler(owner))
	b.expect(http.MethodGet, "/api/v1/pairs", "", 500, errLost.Error())
	b.expect(http.MethodGet, "/api/v1/status", "", 200, `"unread":"`+errLost.Error())
	if !strings.Contains(b.said.String(), "secret.example") {
		t.Errorf("the log does not say it: %s", b.said)
	}
}
