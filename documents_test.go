package pathwise_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/config/psconfig"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/gateway"
	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/scenario"
	"github.com/pathwise-net/pathwise/lab/twin"
	"github.com/pathwise-net/pathwise/parse"
	"github.com/pathwise-net/pathwise/probe"
)

// Reasons for which a file decodes YAML or JSON by itself and not through package document.
const (
	part    = "a part of a text that was bounded as a whole"
	own     = "what this program wrote itself in the same call, or is in the binary"
	process = "between processes of this program that run for one user"
	kept    = "a file of this program's own folder, which nobody else may write"
	framed  = "the bytes are bounded by who receives them, and encoding/json bounds the depth to 10,000"
	trusted = "the answer of the controller that the user named"
)

// decoders are the files that decode by themselves. A file that is not here must use package document.
var decoders = map[string]string{
	"account/audit_read.go": kept, "account/contents.go": kept, "durable/daily/daily.go": kept, "agent/plan.go": kept,
	"agent/spool/deliver.go": kept, "agent/spool/recover.go": kept, "archive/block.go": kept, "archive/restore.go": framed,
	"fleet/keyring.go": kept, "fleet/credentials.go": kept, "fleet/fleet.go": part,
	"fleet/batch.go": framed, "fleet/entry.go": framed, "fleet/hear.go": framed, "fleet/joining.go": framed, "fleet/order.go": framed, "fleet/pack.go": framed,
	"proto/iperf3/greet.go": framed, "proto/iperf3/params.go": framed, "proto/iperf3/results.go": framed,
	"cmd/pathwise/mesh_client.go": trusted, "cmd/pathwise/mesh_diagnose.go": trusted, "cmd/pathwise/mesh_run.go": trusted,
	"cmd/pathwise/mesh_restore_parts.go": framed,
	"cmd/pathwise/self.go":               process, "lab/control.go": process, "lab/engine_linux.go": process,
	"lab/exec_linux.go": process, "lab/lab.go": process, "lab/start_linux.go": process, "web/labs/test_session.go": process,
	"cmd/pathwise/lab_truth_text.go": own, "config/command.go": own, "lab/scenario/truth.go": own, "probe/task_value.go": own,
	"diagnose/knowledge/knowledge.go": own, "report/mask.go": own,
	"measure/distribution.go": part, "measure/read.go": part, "measure/subject.go": part, "measure/sample_tcp.go": part, "parse/json.go": part,
}

// decoding are the functions that read a text, by the package that has them.
var decoding = map[string][]string{
	"encoding/json":                   {"Unmarshal", "NewDecoder"},
	"github.com/goccy/go-yaml":        {"Unmarshal", "UnmarshalWithOptions", "UnmarshalContext", "NewDecoder", "YAMLToJSON"},
	"github.com/goccy/go-yaml/parser": {"ParseBytes", "ParseFile", "Parse"},
	"github.com/goccy/go-yaml/lexer":  {"Tokenize"},
}

// Every reader of YAML and JSON goes through package document, or stands in the list with the reason why not.
func TestReadersAreBounded(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		ours := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") &&
			!strings.HasPrefix(path, "document/") && !strings.HasPrefix(path, "bench/")
		if err != nil || d.IsDir() || !ours {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, call := range decodes(file) {
			used[path] = true
			if decoders[path] == "" {
				t.Errorf("%s calls %s: use package document", path, call)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range decoders {
		if !used[path] {
			t.Errorf("%s decodes nothing by itself any more: take it off the list", path)
		}
	}
}

// decodes names the functions of decoding that a file uses.
func decodes(file *ast.File) (calls []string) {
	imported := map[string]string{} // path by name in this file
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		name := path[strings.LastIndex(path, "/")+1:]
		if name = strings.TrimPrefix(name, "go-"); i.Name != nil {
			name = i.Name.Name
		}
		imported[name] = path
	}
	ast.Inspect(file, func(n ast.Node) bool {
		s, is := n.(*ast.SelectorExpr)
		if !is {
			return true
		}
		if x, named := s.X.(*ast.Ident); named {
			for _, f := range decoding[imported[x.Name]] {
				if s.Sel.Name == f {
					calls = append(calls, x.Name+"."+f)
				}
			}
		}
		return true
	})
	return calls
}

// What is nested deep, too large, or grows by its aliases costs no reader much, and is refused without a panic.
func TestHostileDocuments(t *testing.T) {
	json, err := parse.Compile([]parse.Rule{{Metric: "a_seconds", JSON: "$.a"}})
	if err != nil {
		t.Fatal(err)
	}
	readers := map[string]func(text []byte) error{
		"mesh file": func(b []byte) error {
			_, err := config.Parse([]config.File{{Name: "f", Text: b}}, probe.Catalogue{})
			return err
		},
		"pSConfig":        func(b []byte) error { _, _, err := psconfig.Import(b); return err },
		"lab file":        func(b []byte) error { _, err := lab.ParseSpec("f", b); return err },
		"case file":       func(b []byte) error { _, err := scenario.Parse("f", b); return err },
		"link file":       func(b []byte) error { _, err := gateway.ParseConfig("f", b); return err },
		"link setting":    func(b []byte) error { _, _, err := link.ParseSetting("loss=" + string(b)); return err },
		"twin's document": func(b []byte) error { _, err := twin.Read("f", b); return err },
		"policy file":     func(b []byte) error { _, err := policy.Parse("f", b); return err },
		"program output":  func(b []byte) error { _, err := json.Read(string(b)); return err },
	}
	laughs := "a0: &a0 [x, x]\n"
	for i := 1; i < 60; i++ {
		n, last := strconv.Itoa(i), strconv.Itoa(i-1)
		laughs += "a" + n + ": &a" + n + " [*a" + last + ", *a" + last + "]\n"
	}
	const most = 300 << 20
	for what, text := range map[string]string{
		"a million [":    strings.Repeat("[", 1_000_000),
		"a million {":    strings.Repeat("{\"a\":", 1_000_000),
		"a thousand [":   strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
		"a million -":    strings.Repeat("- ", 1_000_000) + "x",
		"few thousand -": strings.Repeat("- ", 5000) + "x",
		"laughs":         laughs,
		"itself":         "a: &a {hosts: *a}",
		"oversized":      "{\"a\": \"" + strings.Repeat("x", 65<<20) + "\"}",
		"many values":    "[" + strings.Repeat("0,", 900_000) + "0]",
	} {
		for name, read := range readers {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := read([]byte(text))
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; err == nil || taken > most {
				t.Errorf("%s: %s: %d MB taken, error %v; want an error for at most %d MB", name, what, taken>>20, err, most>>20)
			}
		}
	}
}
