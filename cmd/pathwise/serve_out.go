package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/export"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/secret"
)

// outlets are where Results go beside the archive: to who scrapes, and to receivers of remote write.
type outlets struct {
	collector *export.Collector
	writers   []*export.RemoteWriter
	log       *slog.Logger
	state     func() export.State // set when there is a controller
}

func openOutlets(ctx context.Context, data string, m *config.Mesh, store archive.Archive, log *slog.Logger) (*outlets, error) {
	o := &outlets{log: log}
	o.collector = export.NewCollector(export.CollectorOptions{Version: version(), Log: log, Way: func(tool string) measure.Way {
		if t := m.Tool(tool); t != nil {
			return measure.WayOf(t.Kind, t.Parameters)
		}
		return ""
	}, State: func() export.State {
		if o.state == nil {
			return export.State{}
		}
		return o.state()
	}})
	if err := o.collector.Seed(ctx, store); err != nil {
		return nil, err
	}
	for i, w := range m.Controller.RemoteWrite {
		writer, err := export.NewRemoteWriter(store, export.RemoteOptions{
			Name: w.Label(m.Controller.RemoteWrite), URL: w.URL, Headers: w.Headers, Secrets: secret.In(data), User: w.User,
			PasswordFile: w.Password,
			TokenFile:    w.TokenFile, CAFile: w.CAFile, Version: version(), Log: log,
			UnsentFile: unsentFileOf(data, i, &w),
		})
		if err != nil {
			return nil, err
		}
		o.writers = append(o.writers, writer)
	}
	return o, nil
}

// unsentFileOf is the file of what a receiver has not got: by its name, or else by its place in the mesh file.
func unsentFileOf(data string, place int, w *config.RemoteWrite) string {
	name := fmt.Sprint(place)
	if w.Name != "" {
		name = "to-" + w.Name
	}
	return filepath.Join(data, "remote-write-"+name+".json")
}

// run sends to receivers until ctx ends.
func (o *outlets) run(ctx context.Context, group *errgroup.Group) {
	for _, w := range o.writers {
		group.Go(func() error { return w.Run(ctx) })
	}
}

// observe takes Results that are filed.
func (o *outlets) observe(results []*measure.Result) error {
	for _, r := range results {
		o.collector.Observe(r)
	}
	for _, w := range o.writers {
		if err := w.Observe(results); err != nil {
			return err
		}
	}
	return nil
}

// metrics is what a Prometheus scrapes.
func (o *outlets) metrics(c *control.Control, store archive.Archive) (http.Handler, error) {
	o.state = func() export.State {
		state := export.State{Archive: store.Stats(), Queued: c.Overview().OnDemand}
		for _, h := range c.Hosts() {
			if h.State != control.Foreign && h.State != control.Offline {
				host := export.Host{Name: h.Name, Here: h.State == control.Here}
				if h.Status != nil {
					host.Running, host.Spooled = len(h.Status.Running), h.Status.Spooled
				}
				state.Hosts = append(state.Hosts, host)
			}
		}
		return state
	}
	var others []prometheus.Collector
	for _, w := range o.writers {
		others = append(others, w)
	}
	return o.collector.Handler(others...)
}
