package web

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate is a TLS certificate whose files may be renewed while the server runs.
type certificate struct {
	file, key string
	log       *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	of     [2]time.Time // when the files were written that it is from
	failed string       // why it could not be read the last time
}

// TLS returns what a listener needs to speak HTTPS with a certificate and its key, of PEM files. Whoever renews them needs
// to do no more: they are read again when they have changed. What cannot be read then is logged, and the last one stays.
func TLS(file, key string, log *slog.Logger) (*tls.Config, error) {
	c := &certificate{file: file, key: key, log: log}
	if _, err := c.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}, nil
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	written := [2]time.Time{writtenAt(c.file), writtenAt(c.key)}
	if c.loaded != nil && written == c.of {
		return c.loaded, nil
	}
	loaded, err := tls.LoadX509KeyPair(c.file, c.key)
	switch {
	case err == nil:
		c.loaded, c.of, c.failed = &loaded, written, ""
	case c.loaded == nil:
		return nil, fmt.Errorf("read controller.tls: %w", err)
	case c.log != nil && err.Error() != c.failed: // once, and tried again with each connection
		c.failed = err.Error()
		c.log.Error("read controller.tls; the last certificate stays", "error", err)
	}
	return c.loaded, nil
}

// writtenAt is when a file was written; the zero time: it is not there.
func writtenAt(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
