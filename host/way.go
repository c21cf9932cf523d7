package host

import "cmp"

// defaultRoute is what the route to everywhere is called.
const defaultRoute = "default"

// defaultWay is the default route, of several that of the lowest metric.
func defaultWay(routes []RouteFacts) (w Way) {
	for _, r := range routes {
		if r.Destination == defaultRoute && r.Interface != "" && (w.Destination == "" || cmp.Less(r.Metric, w.Metric)) {
			w.RouteFacts = r
		}
	}
	return w
}
