package report

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	texttemplate "text/template"

	"github.com/pathwise-net/pathwise/quantity"
)

//go:embed report.html report.md
var files embed.FS

func (p Problem) writeHTML(w io.Writer) error {
	t, err := template.New("report.html").Funcs(template.FuncMap{"raw": indented, "rate": quantity.FormatRate, "seconds": quantity.FormatSeconds}).ParseFS(files, "report.html")
	if err == nil {
		err = t.Execute(w, p.view())
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (p Problem) writeMarkdown(w io.Writer) error {
	t, err := texttemplate.New("report.md").Funcs(texttemplate.FuncMap{"cell": cell, "rate": quantity.FormatRate, "seconds": quantity.FormatSeconds}).ParseFS(files, "report.md")
	if err == nil {
		err = t.Execute(w, p.view())
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// indented is a Result as JSON, for people to read and to take out.
func indented(v any) (string, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return string(text), err
}

// cell is a text in a cell of a table of Markdown, which a bar or a line's end would break, and in which markup would be obeyed.
func cell(v any) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\r", " ", "\n", " ").Replace(fmt.Sprint(v))
}
