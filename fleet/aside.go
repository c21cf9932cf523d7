package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/measure"
)

// asideBytes bounds what is kept of Results that could not be filed, for people to look at. What is beyond is logged alone.
const asideBytes = 64 << 20

// brokenError is a panic of who files.
type brokenError struct {
	what  any
	stack []byte
}

func (e *brokenError) Error() string { return fmt.Sprintf("filing it panics: %v", e.what) }

// safely files Results, and makes an error of a panic: one Result must not end the controller. Who files may have made an error
// of a panic in a goroutine of theirs, which then says where that was.
func (f *filing) safely(ctx context.Context, host string, results []*measure.Result) (err error) {
	defer func() {
		var elsewhere interface{ Stack() []byte }
		if what := recover(); what != nil {
			err = &brokenError{what, debug.Stack()}
		} else if errors.As(err, &elsewhere) {
			err = &brokenError{err, elsewhere.Stack()}
		}
	}()
	return f.to.File(ctx, host, results)
}

// file files Results together, or, where that panics, each by itself. One that panics so is kept aside and counts as filed:
// it would come again for ever.
func (f *filing) file(ctx context.Context, host string, results []*measure.Result) error {
	err := f.safely(ctx, host, results)
	var broken *brokenError
	if !errors.As(err, &broken) {
		return err
	}
	for _, r := range results {
		err := f.safely(ctx, host, []*measure.Result{r})
		if errors.As(err, &broken) {
			f.hub.log.Error("result refused", "from", host, "id", r.ID, "why", err, "stack", string(broken.stack))
			if err := f.hub.aside.keep(host, r, broken); err != nil {
				f.hub.log.Warn("keep a refused result aside", "id", r.ID, "error", err)
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// aside is a folder of Results that could not be filed, each with the reason.
type aside struct {
	folder string // "": none is kept
	mu     sync.Mutex
}

type refusedResult struct {
	Host   string          `json:"host"`
	Why    string          `json:"why"`
	Stack  string          `json:"stack"`
	Result *measure.Result `json:"result"`
}

func (a *aside) keep(host string, r *measure.Result, why *brokenError) error {
	if a.folder == "" {
		return nil
	}
	text, err := json.Marshal(refusedResult{host, why.Error(), string(why.stack), r})
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	owner, err := durable.OwnerOf(filepath.Dir(a.folder))
	if err != nil {
		return err
	}
	if err := owner.Mkdir(a.folder); err != nil {
		return err
	}
	entries, err := os.ReadDir(a.folder)
	if err != nil {
		return err
	}
	kept := int64(len(text))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			kept += info.Size()
		}
	}
	if kept > asideBytes {
		return fmt.Errorf("%s holds %d MB of them already", a.folder, asideBytes>>20)
	}
	return owner.Write(filepath.Join(a.folder, token(r.ID)+".json"), text)
}
