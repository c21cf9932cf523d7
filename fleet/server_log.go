package fleet

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

var errNotReady = errors.New("it was not ready in time")

// serverLog passes the server's log on. What it notes of its own doings is for those who look for a fault.
type serverLog struct {
	to        *slog.Logger
	outsiders tally
	mu        sync.Mutex
	fatal     error
}

func (l *serverLog) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		return errNotReady
	}
	return l.fatal
}

func (l *serverLog) Noticef(f string, v ...any) { l.to.Debug(serverSays(f, v...)) }
func (l *serverLog) Debugf(f string, v ...any)  { l.to.Debug(serverSays(f, v...)) }
func (l *serverLog) Tracef(f string, v ...any)  { l.to.Debug(serverSays(f, v...)) }
func (l *serverLog) Warnf(f string, v ...any)   { l.to.Warn(serverSays(f, v...)) }

func serverSays(f string, v ...any) string { return "message server: " + fmt.Sprintf(f, v...) }

// Errorf takes errors of the server, and what anybody who reaches its port can cause.
func (l *serverLog) Errorf(f string, v ...any) {
	text := serverSays(f, v...)
	for _, by := range []string{"authentication error", "authorization", "Violation", "TLS handshake", "maximum"} {
		if strings.Contains(text, by) {
			l.outsiders.log(l.to, text)
			return
		}
	}
	l.to.Error(text)
}

// Fatalf is called for what keeps the server from working, such as a port that is taken. The server does not end by it.
func (l *serverLog) Fatalf(f string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		l.fatal = fmt.Errorf(f, v...)
	}
}

func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
