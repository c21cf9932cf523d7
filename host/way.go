package host

import "cmp"

// defaultWay is the default route, of several that of the lowest metric.
func defaultWay(routes []RouteFacts) (w Way) {
	for _, r := range routes {
		if r.Destination == "default" && r.Interface != "" && (w.Destination == "" || cmp.Less(r.Metric, w.Metric)) {
			w.RouteFacts = r
		}
	}
	return w
}
