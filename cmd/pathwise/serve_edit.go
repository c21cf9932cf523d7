package main

import (
	"log/slog"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/control"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/web/edit"
)

// openBook opens the mesh file for administrators to edit on the pages, and its history.
func openBook(file, data string, m *config.Mesh, rates func() *control.Rates, log *slog.Logger) (*edit.Book, error) {
	return edit.Open(edit.Options{Mesh: file, Data: data, Check: probe.Catalogue{}, Demand: demandOf, Rates: rates,
		Started: m.Controller, Log: log})
}
