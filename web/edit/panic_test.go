package edit

import (
	"context"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

// panicking is a Checker with a defect.
type panicking struct{ probe.Catalogue }

func (panicking) Validate(measure.Task) error { panic(killed{}) }

// Whatever panics while a proposal is checked or saved, the next one has its turn.
func TestNothingIsHeldOverAPanic(t *testing.T) {
	for name, arm := range map[string]func(o *Options){
		"check":   func(o *Options) { o.Check = panicking{} },
		"demand":  func(o *Options) { o.Demand = func(measure.Task) measure.Demand { panic(killed{}) } },
		"replace": func(o *Options) { o.replace = func(string, []byte) error { panic(killed{}) } },
		"access":  func(o *Options) { o.access = func(string) error { panic(killed{}) } },
		"now":     func(o *Options) { o.Now = func() time.Time { panic(killed{}) } },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, File{"mesh.yaml", hostsText + testsText})
			must(t, d.load())
			from, sound := d.current().Version, d.options
			arm(&d.options)
			next := File{"mesh.yaml", hostsText + bulkText}
			for _, try := range []func() error{
				func() error { _, err := d.Check(t.Context(), []File{next}, false); return err },
				func() error { _, err := d.save(from, next); return err },
			} {
				func() {
					defer func() {
						if p := recover(); p != nil && p != (killed{}) {
							panic(p)
						}
					}()
					_ = try()
				}()
			}
			d.options = sound
			done := make(chan error, 1)
			go func() {
				_, err := d.Save(t.Context(), Change{From: from, Files: []File{next}, By: "anna"})
				done <- err
			}()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			select {
			case err := <-done:
				must(t, err)
			case <-ctx.Done():
				t.Fatal("something is still held")
			}
		})
	}
}
