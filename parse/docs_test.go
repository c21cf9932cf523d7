package parse

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/pathwise-net/pathwise/measure"
)

// Each recipe of docs/mesh-tools.md finds all its metrics in what that program prints.
func TestRecipes(t *testing.T) {
	outputs := map[string]string{
		"iperf3": "iperf3.json", "iperf3-udp": "iperf3-udp.json", "iperf3-text": "iperf3.txt", "system-ping": "ping.txt",
		"system-traceroute": "traceroute.txt", "mtr": "mtr.json", "bbcp": "bbcp-documented.txt",
		"gridftp": "globus-url-copy-documented.txt", "pathload": "pathload-documented.txt", "own": "",
	}
	page, err := os.ReadFile("../docs/mesh-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, recipes, _ := strings.Cut(string(page), "### Recipes")
	for _, block := range strings.Split(recipes, "\n\n") {
		if !strings.HasPrefix(block, "    ") {
			continue
		}
		tools := map[string]struct {
			Command, Timeout string
			Values           map[string]string
			Parse            map[measure.Metric]any
		}{}
		if err := yaml.UnmarshalWithOptions([]byte(block), &tools, yaml.Strict()); err != nil {
			t.Fatalf("%v in\n%s", err, block)
		}
		for name, tool := range tools {
			output, known := outputs[name]
			if !known {
				t.Errorf("%s: no output to try it with", name)
			}
			delete(outputs, name)
			text := "throughput: 941 Mbit/s\nsetup time = 35 ms\n"
			if output != "" {
				text = read(t, output)
			}
			if _, err := compile(t, recipeRules(t, tool.Parse)...).Read(text); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if len(outputs) > 0 {
		t.Errorf("no recipe for %v", outputs)
	}
}

// recipeRules reads rules as a mesh file has them: a mapping, or a regular expression alone.
func recipeRules(t *testing.T, rules map[measure.Metric]any) (all []Rule) {
	t.Helper()
	for m, v := range rules {
		r := Rule{Metric: m}
		if regex, alone := v.(string); alone {
			r.Regex = regex
		} else {
			text, err := json.Marshal(v)
			if err == nil {
				err = json.Unmarshal(text, &r)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, r)
	}
	return all
}
