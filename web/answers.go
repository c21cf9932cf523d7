package web

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/pathwise-net/pathwise/document"
)

// answers keeps answers that take long to find. Each is found once for all who ask the same question within matrixAge.
type answers[T any] struct {
	mu    sync.Mutex
	kept  map[string]*answer[T]
	begun int // answers that are being found
}

// answer is the answer to one question, found or being found. Who asks first finds it; others wait for that one.
type answer[T any] struct {
	begun time.Time
	ready chan struct{}
	found T
	err   error
}

const (
	// mostKept bounds what is kept to some 20 MB of matrices: ten metrics or times that people look at, and one more each time
	// that somebody steps through the past.
	mostKept = 16
	// mostBegun is how many are being found at a time: that of fifty people who each look at another time, and some.
	mostBegun = 64
	// answerTimeout is how long one may take, most of which it waits for others.
	answerTimeout = time.Minute
)

var (
	errBusy = errors.New("too much is being looked up; try again")
	errLeft = errors.New("who asked first went away")
)

// get returns the answer to a question, which find finds if there is none that is young enough. It is shared: nobody may change it.
func (a *answers[T]) get(ctx context.Context, question string, now time.Time, find func(context.Context) (T, error)) (T, error) {
	for {
		one, first, err := a.take(question, now)
		if err != nil {
			var none T
			return none, err
		}
		if first {
			defer a.end(question, one)
			return one.work(ctx, find)
		}
		select {
		case <-one.ready:
		case <-ctx.Done():
			var none T
			return none, context.Cause(ctx)
		}
		if !errors.Is(one.err, errLeft) {
			return one.found, one.err
		}
	}
}

// take returns the answer to a question. first: it is the caller's to find and to end.
func (a *answers[T]) take(question string, now time.Time) (one *answer[T], first bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one = a.kept[question]; one != nil && now.Sub(one.begun) < matrixAge {
		return one, false, nil
	}
	if a.begun >= mostBegun {
		return nil, false, errBusy
	}
	a.begun++
	one = &answer[T]{begun: now, ready: make(chan struct{}), err: errLeft}
	a.keep(question, one)
	return one, true, nil
}

// end tells those who wait. What failed is forgotten, so that the next one tries again.
func (a *answers[T]) end(question string, one *answer[T]) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begun--
	if one.err != nil && a.kept[question] == one {
		delete(a.kept, question)
	}
	close(one.ready)
}

// keep adds an answer, in place of the oldest where there are too many.
func (a *answers[T]) keep(question string, one *answer[T]) {
	if a.kept == nil {
		a.kept = map[string]*answer[T]{}
	}
	if _, has := a.kept[question]; !has && len(a.kept) >= mostKept {
		oldest := ""
		for q, k := range a.kept {
			if oldest == "" || k.begun.Before(a.kept[oldest].begun) {
				oldest = q
			}
		}
		delete(a.kept, oldest)
	}
	a.kept[question] = one
}

// work finds the answer. If its finder goes away meanwhile, or panics, it is left for another.
func (o *answer[T]) work(ctx context.Context, find func(context.Context) (T, error)) (T, error) {
	timed, cancel := context.WithTimeoutCause(ctx, answerTimeout, errBusy)
	defer cancel()
	found, err := find(timed)
	if err != nil && ctx.Err() != nil {
		return found, context.Cause(ctx)
	}
	if err != nil && timed.Err() != nil {
		err = context.Cause(timed)
	}
	o.found, o.err = found, err
	return found, err
}

// boundedJSON reads a body as huma does, after a look at its depth; what an operation takes at most is bounded before.
var boundedJSON = huma.Format{
	Marshal: huma.DefaultJSONFormat.Marshal,
	Unmarshal: func(text []byte, v any) error {
		if err := document.CheckJSON(text, maxConfig); err != nil {
			return err
		}
		return huma.DefaultJSONFormat.Unmarshal(text, v)
	},
}

// sayNull adds to the schemas which of their fields that hold an object may be null, which huma leaves out: pointers that are
// written even if they are nil.
func sayNull(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		t := schemas.TypeFromRef("#/components/schemas/" + name)
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, field := range reflect.VisibleFields(t) {
			key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			known := schema.Properties[key]
			if known == nil || known.Ref == "" || field.Type.Kind() != reflect.Pointer || strings.Contains(options, "omit") {
				continue
			}
			schema.Properties[key] = &huma.Schema{Description: known.Description,
				AnyOf: []*huma.Schema{{Ref: known.Ref}, {Type: "null"}}}
		}
	}
}
