package measure

// Way is the way that the data of a measurement went, as seen by its source: Forward, Reverse, Both, or "" where there is
// no one way, as of round trips and of what a host measures of itself.
type Way string

// Both says that data went both ways at once. It is a Way only; a sample always is of one direction.
const Both = "both"

// WayOf returns the way that the data of a task goes, from its kind and its parameters.
func WayOf(kind string, parameters map[string]any) Way {
	if kind != "throughput" && kind != "capacity" {
		return ""
	}
	is := func(name string) bool { return parameters[name] == true || parameters[name] == "true" }
	switch direction := parameters["direction"]; {
	case is("bidir") || direction == Both:
		return Both
	case is("reverse") || direction == Reverse:
		return Reverse
	}
	return Forward
}
