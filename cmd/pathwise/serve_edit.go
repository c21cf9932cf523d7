package main

import (
	"log/slog"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/probe"
	"github.com/pathwise-net/pathwise/web/edit"
)

// openBook opens the mesh file for administrators to edit on the pages, and its history.
func openBook(file, data string, m *config.Mesh, log *slog.Logger) (*edit.Book, error) {
	return edit.Open(edit.Options{Mesh: file, Data: data, Check: probe.Validate, Demand: demandOf, Started: m.Controller, Log: log})
}

// followed tells a history of each mesh that is to be in force before hosts follow it, which costs what cannot be taken back.
func followed(book *edit.Book, hosts func(*config.Mesh) error) func(*config.Mesh) error {
	return func(m *config.Mesh) error { return book.Follow(m, hosts) }
}
