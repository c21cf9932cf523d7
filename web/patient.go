package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// patient writes an answer to a client that may be slow, but not for ever: one that takes nothing for writeTimeout is taken
// for gone, so that it holds neither a test nor the archive up.
type patient struct {
	w       http.ResponseWriter
	control *http.ResponseController
	any     bool // something was written
}

func newPatient(w http.ResponseWriter) *patient {
	return &patient{w: w, control: http.NewResponseController(w)}
}

// writeTimeout is how long a bad line may stand still while TCP finds its way back.
const writeTimeout = time.Minute

func (p *patient) Write(text []byte) (int, error) {
	p.any = p.any || len(text) > 0
	if err := p.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.w.Write(text)
}

// fail answers with an error in place of what could not be begun.
func (p *patient) fail(err error) {
	problem := huma.NewError(statusOf(err), err.Error())
	p.w.Header().Set("Content-Type", "application/problem+json")
	p.w.WriteHeader(problem.GetStatus())
	_ = json.NewEncoder(p).Encode(problem) // to a client that is gone
}
