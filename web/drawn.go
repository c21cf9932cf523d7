package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// drawings keeps documents that are dear to write, as they are sent: one is made for all who ask the same within matrixAge. A
// matrix of 200 hosts is a megabyte, which takes longer to write and to compress than to look up.
type drawings struct {
	mu    sync.Mutex
	kept  map[string]*drawing
	begun int // that are being written
}

// drawing is one of them. Whoever asks first writes it, for as long as they wait for it.
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
	// mostBegun is how many are written at a time: that of fifty people who each look at another time, and some.
	mostBegun = 64
	// drawTimeout is how long one may take, most of which it waits for others.
	drawTimeout = time.Minute
)

var (
	errDrawing = errors.New("too much is being looked up; try again")
	errLeft    = errors.New("who asked first went away")
)

// get returns the document of a name, which draw makes if there is none that is young enough.
func (d *drawings) get(ctx context.Context, name string, now time.Time, draw func(context.Context) (any, error)) (*drawing, error) {
	for {
		one, first, err := d.find(name, now)
		if err != nil {
			return nil, err
		}
		if first {
			defer d.end(name, one)
			return one, one.write(ctx, draw)
		}
		select {
		case <-one.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if !errors.Is(one.err, errLeft) {
			return one, one.err
		}
	}
}

// find returns the drawing of a name. first: it is the caller's to write and to end.
func (d *drawings) find(name string, now time.Time) (one *drawing, first bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one = d.kept[name]; one != nil && now.Sub(one.begun) < matrixAge {
		return one, false, nil
	}
	if d.begun >= mostBegun {
		return nil, false, errDrawing
	}
	d.begun++
	one = &drawing{begun: now, ready: make(chan struct{}), err: errLeft}
	d.keep(name, one)
	return one, true, nil
}

// end tells those who wait. What failed is forgotten, so that the next one tries again.
func (d *drawings) end(name string, one *drawing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun--
	if one.err != nil && d.kept[name] == one {
		delete(d.kept, name)
	}
	close(one.ready)
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

// write makes the document. If its writer goes away meanwhile, or panics, it is left for another.
func (d *drawing) write(ctx context.Context, draw func(context.Context) (any, error)) error {
	timed, cancel := context.WithTimeoutCause(ctx, drawTimeout, errDrawing)
	defer cancel()
	err := d.pack(timed, draw)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && timed.Err() != nil {
		err = context.Cause(timed)
	}
	d.err = err
	return err
}

// pack makes the document, and compresses it.
func (d *drawing) pack(ctx context.Context, draw func(context.Context) (any, error)) error {
	doc, err := draw(ctx)
	if err != nil {
		return err
	}
	if d.plain, err = json.Marshal(doc); err != nil {
		return err
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
		return fmt.Errorf("compress: %w", err)
	}
	d.packed = packed.Bytes()
	return nil
}

// answer sends the document, compressed to who takes that; to who says how gladly (RFC 9110, section 12.4.2), as compressed does.
func (d *drawing) answer() *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		text := d.plain
		if takes := ctx.Header("Accept-Encoding"); strings.Contains(takes, "gzip") && !strings.Contains(takes, "q=") {
			ctx.SetHeader("Content-Encoding", "gzip")
			text = d.packed
		}
		_, _ = ctx.BodyWriter().Write(text) // to a client that may be gone
	}}
}
