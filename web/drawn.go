package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// drawings keeps documents that are dear to write, as they are sent: one is made for all who ask the same within matrixAge. A
// matrix of 200 hosts is a megabyte, which takes longer to write and to compress than to look up.
type drawings struct {
	mu   sync.Mutex
	kept map[string]*drawing
}

// drawing is one of them. It is written once, by whoever asks first.
type drawing struct {
	begun         time.Time
	ready         chan struct{}
	plain, packed []byte
	err           error
}

const (
	// mostDrawn bounds what is kept to some 20 MB: ten metrics or times that people look at, and one more each time that
	// somebody steps through the past.
	mostDrawn = 16
	// drawTimeout is how long one may take; who asked first may be gone by then.
	drawTimeout = time.Minute
)

// get returns the document of a name, which draw makes if there is none that is young enough.
func (d *drawings) get(ctx context.Context, name string, now time.Time, draw func(context.Context) (any, error)) (*drawing, error) {
	d.mu.Lock()
	one := d.kept[name]
	if one == nil || now.Sub(one.begun) >= matrixAge {
		one = &drawing{begun: now, ready: make(chan struct{})}
		d.keep(name, one)
		go one.write(context.WithoutCancel(ctx), draw)
	}
	d.mu.Unlock()
	select {
	case <-one.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if one.err != nil {
		d.forget(name, one)
	}
	return one, one.err
}

// keep adds a document, in place of the oldest where there are too many.
func (d *drawings) keep(name string, one *drawing) {
	if d.kept == nil {
		d.kept = map[string]*drawing{}
	}
	if _, has := d.kept[name]; !has && len(d.kept) >= mostDrawn {
		oldest := ""
		for n, k := range d.kept {
			if oldest == "" || k.begun.Before(d.kept[oldest].begun) {
				oldest = n
			}
		}
		delete(d.kept, oldest)
	}
	d.kept[name] = one
}

// forget lets the next one try again.
func (d *drawings) forget(name string, one *drawing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.kept[name] == one {
		delete(d.kept, name)
	}
}

// write makes the document, and compresses it.
func (d *drawing) write(ctx context.Context, draw func(context.Context) (any, error)) {
	defer close(d.ready)
	ctx, cancel := context.WithTimeout(ctx, drawTimeout)
	defer cancel()
	doc, err := draw(ctx)
	if err == nil {
		d.plain, err = json.Marshal(doc)
	}
	if err != nil {
		d.err = err
		return
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(d.plain)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		d.err = fmt.Errorf("compress: %w", err)
		return
	}
	d.packed = packed.Bytes()
}

// answer sends the document, compressed to who takes that.
func (d *drawing) answer() *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		text := d.plain
		if strings.Contains(ctx.Header("Accept-Encoding"), "gzip") {
			ctx.SetHeader("Content-Encoding", "gzip")
			text = d.packed
		}
		_, _ = ctx.BodyWriter().Write(text) // to a client that may be gone
	}}
}
