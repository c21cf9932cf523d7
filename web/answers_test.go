package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// An answer that its first asker leaves, by going away or by a panic, is found by the next.
func TestAnswerIsHandedOn(t *testing.T) {
	var d answers[string]
	now := time.Now()
	ctx, leave := context.WithCancel(t.Context())
	begun, first := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := d.get(ctx, "x", now, func(ctx context.Context) (string, error) {
			close(begun)
			<-ctx.Done()
			return "", ctx.Err()
		})
		first <- err
	}()
	<-begun
	second := make(chan string, 1)
	go func() {
		one, err := d.get(t.Context(), "x", now, func(context.Context) (string, error) { return "made", nil })
		if err != nil {
			t.Error(err)
		}
		second <- one
	}()
	leave()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("who went away: %v", err)
	}
	if one := <-second; one != "made" {
		t.Errorf("who stayed got %q", one)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = d.get(t.Context(), "y", now, func(context.Context) (string, error) { panic("a bug") })
	}()
	if one, err := d.get(t.Context(), "y", now, func(context.Context) (string, error) { return "1", nil }); err != nil || one != "1" {
		t.Errorf("after a panic: %v", err)
	}
}

// So many are found at a time, and those beyond are told to try again.
func TestAnswersAreBounded(t *testing.T) {
	var d answers[string]
	for i := range mostBegun {
		if _, first, err := d.take(strconv.Itoa(i), time.Now()); !first || err != nil {
			t.Fatal(i, err)
		}
	}
	_, err := d.get(t.Context(), "one more", time.Now(), nil)
	if !errors.Is(err, errBusy) || statusOf(err) != http.StatusServiceUnavailable {
		t.Errorf("one more: %v", err)
	}
}
