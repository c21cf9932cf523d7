package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// What its first asker leaves, by going away or by a panic, is made by the next.
func TestDrawingIsHandedOn(t *testing.T) {
	var d drawings
	now := time.Now()
	ctx, leave := context.WithCancel(t.Context())
	begun, first := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := d.get(ctx, "x", now, func(ctx context.Context) (any, error) {
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		first <- err
	}()
	<-begun
	second := make(chan *drawing, 1)
	go func() {
		one, err := d.get(t.Context(), "x", now, func(context.Context) (any, error) { return "made", nil })
		if err != nil {
			t.Error(err)
		}
		second <- one
	}()
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who went away: %v", err)
	}
	if one := <-second; string(one.plain) != `"made"` {
		t.Errorf("who stayed got %q", one.plain)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = d.get(t.Context(), "y", now, func(context.Context) (any, error) { panic("a bug") })
	}()
	if one, err := d.get(t.Context(), "y", now, func(context.Context) (any, error) { return 1, nil }); err != nil || string(one.plain) != "1" {
		t.Errorf("after a panic: %v", err)
	}
}

// So many are made at a time, and those beyond are told to try again.
func TestDrawingsAreBounded(t *testing.T) {
	var d drawings
	for i := range mostBegun {
		if _, first, err := d.find(strconv.Itoa(i), time.Now()); !first || err != nil {
			t.Fatal(i, err)
		}
	}
	_, err := d.get(t.Context(), "one more", time.Now(), nil)
	if !errors.Is(err, errDrawing) || statusOf(err) != http.StatusServiceUnavailable {
		t.Errorf("one more: %v", err)
	}
}

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
	if n := len(b.drawn.kept); n > 2 { // the while may have ended between them
		t.Errorf("three who ask the same have %d drawings made", n)
	}
}
