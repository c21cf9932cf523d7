package web

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// timedWriter notes the time that each piece is given.
type timedWriter struct {
	http.ResponseWriter
	until  time.Time
	pieces []int
}

func (w *timedWriter) SetWriteDeadline(at time.Time) error { w.until = at; return nil }

func (w *timedWriter) Write(text []byte) (int, error) {
	if w.until.IsZero() {
		return 0, errMissing
	}
	w.until, w.pieces = time.Time{}, append(w.pieces, len(text))
	return w.ResponseWriter.Write(text)
}

// A large answer goes out piece by piece, each in a time of its own.
func TestPatience(t *testing.T) {
	large := bytes.Repeat([]byte("x"), 3*pieceBytes+1)
	recorder := httptest.NewRecorder()
	w := &timedWriter{ResponseWriter: recorder}
	patiently(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n, err := w.Write(large); n != len(large) || err != nil {
			t.Error(n, err)
		}
	})).ServeHTTP(w, nil)
	if len(w.pieces) != 4 || w.pieces[3] != 1 || !bytes.Equal(recorder.Body.Bytes(), large) {
		t.Errorf("pieces of %d, in all %d bytes", w.pieces, recorder.Body.Len())
	}
	if w.until.IsZero() {
		t.Error("what the server holds back has no time")
	}
}
