package traffic

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/pathwise-net/pathwise/document"
)

// UnmarshalYAML reads a mapping of the keys of Config and validates it.
func (c *Config) UnmarshalYAML(node ast.Node) error {
	*c = Config{}
	type plain Config // without this method
	if err := document.Decode(node, (*plain)(c)); err != nil {
		return err
	}
	return document.At(node, c.Validate())
}

// String returns YAML flow text that reads back to the same Config.
func (c *Config) String() string {
	var fields []string
	add := func(set bool, key, value string) {
		if set {
			fields = append(fields, key+": "+value)
		}
	}
	add(c.Name != "", "name", quoted(c.Name))
	add(true, "from", quoted(c.From))
	add(true, "to", quoted(c.To))
	add(true, "kind", c.Kind)
	add(c.Rate != 0, "rate", c.Rate.String())
	add(c.Size != 0, "size", c.Size.String())
	add(c.Sizes != nil, "sizes", c.Sizes.String())
	add(c.On != 0, "on", c.On.String())
	add(c.Off != 0, "off", c.Off.String())
	add(c.Shape != 0, "shape", strconv.FormatFloat(c.Shape, 'f', -1, 64))
	add(c.Sources != 0, "sources", strconv.Itoa(int(c.Sources)))
	add(c.Peak != 0, "peak", c.Peak.String())
	add(c.Flows != 0, "flows", strconv.Itoa(int(c.Flows)))
	add(c.CC != "", "cc", quoted(c.CC))
	add(c.Bytes != 0, "bytes", c.Bytes.String())
	add(c.Every != 0, "every", c.Every.String())
	add(c.Broadcast, "broadcast", "true")
	add(c.DSCP != 0, "dscp", c.DSCP.String())
	add(c.Start != 0, "start", c.Start.String())
	add(c.Stop != 0, "stop", c.Stop.String())
	return "{" + strings.Join(fields, ", ") + "}"
}

// bare is text that YAML takes for a string without quotes, unless it is one of the words below.
var bare = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]*$`)

// words are what some version of YAML takes for a truth value, null or a number.
var words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf"}

func quoted(text string) string {
	if bare.MatchString(text) && !slices.Contains(words, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}
