package archive

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

// An answer that is still being made is not given up to make room for others, and what goes wrong in the making is told
// to all who wait for it.
func TestMatricesInTheMaking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{options: Options{}.withDefaults()}
		a := newMatrices()
		a.making = make(chan struct{}, 10)
		ask := func(quantile float64, draw func() ([]Cell, error)) error {
			_, err := a.get(t.Context(), k, MatrixQuery{Quantiles: []float64{quantile}}, draw)
			return err
		}
		broken, drawn := errors.New("broken"), 0
		begun := make(chan struct{})
		slow := func() ([]Cell, error) {
			drawn++
			<-begun
			return nil, broken
		}
		var errs [3]error
		for i := range errs {
			go func() { errs[i] = ask(0, slow) }()
		}
		synctest.Wait()
		for n := range 3 {
			err := ask(float64(n+1), func() ([]Cell, error) { return make([]Cell, mostRemembered/cellBytes), nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		go func() { _ = ask(0, slow) }()
		synctest.Wait()
		close(begun)
		synctest.Wait()
		if drawn != 1 || slices.ContainsFunc(errs[:], func(err error) bool { return err != broken }) {
			t.Errorf("drawn %d times, errors %v", drawn, errs)
		}
		if len(a.known) != 1 || a.order.Len() != 1 || a.bytes < mostRemembered {
			t.Errorf("%d answers of %d bytes are remembered", len(a.known), a.bytes)
		}
	})
}

// Who has had enough of an answer that others wait for leaves the making of it to one of them.
func TestMatricesLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{options: Options{}.withDefaults()}
		a := newMatrices()
		ctx, cancel := context.WithCancel(t.Context())
		go a.get(ctx, k, MatrixQuery{}, func() ([]Cell, error) {
			<-ctx.Done()
			return nil, errors.New("interrupted")
		})
		synctest.Wait()
		var cells []Cell
		go func() {
			cells, _ = a.get(t.Context(), k, MatrixQuery{}, func() ([]Cell, error) { return make([]Cell, 7), nil })
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if len(cells) != 7 {
			t.Errorf("the other one got %d cells", len(cells))
		}
	})
}
