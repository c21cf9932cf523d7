package web

import (
	"net/http"
	"time"
)

// patient writes an answer to a client that may be slow, but not for ever: one that takes nothing for writeTimeout is taken
// for gone, so that it holds neither a test nor the archive nor memory up.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

const (
	// writeTimeout is how long a bad line may stand still while TCP finds its way back.
	writeTimeout = time.Minute
	// pieceBytes is what a client has to take within it: of the slowest modem, half a minute's.
	pieceBytes = 64 << 10
)

// patiently answers through a patient.
func patiently(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &patient{w, http.NewResponseController(w)}
		next.ServeHTTP(p, r)
		p.wait() // for what is in the server's buffer
	})
}

// Write writes piece by piece, each in its own time.
func (p *patient) Write(text []byte) (n int, err error) {
	for {
		p.wait()
		written, err := p.ResponseWriter.Write(text[n:min(n+pieceBytes, len(text))])
		if n += written; err != nil || n == len(text) {
			return n, err
		}
	}
}

// Flush sends what there is.
func (p *patient) Flush() {
	p.wait()
	_ = p.control.Flush() // the next write tells what is wrong
}

// Unwrap lets a ResponseController find what is beneath.
func (p *patient) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// wait gives what is written next its time, as far as there is a connection to wait for.
func (p *patient) wait() { _ = p.control.SetWriteDeadline(time.Now().Add(writeTimeout)) }
