package document

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// expandable returns an *Error if the aliases of a file stand for more than maxNodes nodes, or could stand for themselves.
func expandable(file *ast.File) *Error {
	for _, d := range file.Docs {
		x := expansion{sizes: map[string]int{}}
		if x.size(d.Body); x.bad != nil {
			return x.bad
		}
	}
	return nil
}

// expansion counts the nodes of a document with each alias replaced by what it stands for.
type expansion struct {
	sizes map[string]int // by anchor; 0: it is not complete yet
	bad   *Error
}

// size is the number of nodes below and with n. After a fault it is of no meaning.
func (x *expansion) size(n ast.Node) int {
	if x.bad != nil {
		return 0
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return sum(x, n.Values)
	case *ast.MappingValueNode:
		return x.size(n.Key) + x.size(n.Value)
	case *ast.SequenceNode:
		return sum(x, n.Values)
	case *ast.TagNode:
		return x.size(n.Value)
	case *ast.AnchorNode:
		return x.anchor(n)
	case *ast.AliasNode:
		return x.alias(n)
	}
	return 1
}

func (x *expansion) anchor(n *ast.AnchorNode) int {
	name := n.Name.GetToken().Value
	if _, twice := x.sizes[name]; twice {
		x.bad = at(n.GetToken(), fmt.Sprintf("anchor %q: want each anchor once", name))
		return 0
	}
	x.sizes[name] = 0
	x.sizes[name] = x.size(n.Value)
	return x.sizes[name]
}

func (x *expansion) alias(n *ast.AliasNode) int {
	name := n.Value.GetToken().Value
	if x.sizes[name] == 0 {
		x.bad = at(n.GetToken(), fmt.Sprintf("alias %q: want the name of an anchor before it", name))
	}
	return x.sizes[name]
}

// sum is 1 and the sizes of nodes.
func sum[N ast.Node](x *expansion, nodes []N) int {
	total := 1
	for _, n := range nodes {
		if total += x.size(n); total > maxNodes && x.bad == nil {
			x.bad = tooMany()
		}
	}
	return total
}
