package chart

import "time"

// steps are the distances that times above the lanes may have: those that people count in.
var steps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour,
}

// axis is the line of times: each begins at the column of its moment, or a column after.
func axis(win Window, columns int) string {
	where := win.Location
	if where == nil {
		where = time.UTC
	}
	span := win.Until.Sub(win.From)
	step, layout := steps[len(steps)-1], "15:04"
	for _, s := range steps {
		if width := len(layoutOf(s)); int64(span/s)*int64(width+3) <= int64(columns) {
			step = s
			break
		}
	}
	layout = layoutOf(step)
	line := make([]byte, columns)
	for i := range line {
		line[i] = ' '
	}
	_, offset := win.From.In(where).Zone()
	shift := time.Duration(offset) * time.Second
	for t := win.From.Add(shift).Truncate(step).Add(-shift); t.Before(win.Until); t = t.Add(step) {
		if t.Before(win.From) {
			continue
		}
		at := int(float64(t.Sub(win.From)) / float64(span) * float64(columns))
		if text := t.In(where).Format(layout); at+len(text) <= columns {
			copy(line[at:], text)
		}
	}
	return string(trimRight(line))
}

// layoutOf returns the layout for times on an axis whose marks are a step apart.
func layoutOf(step time.Duration) string {
	switch {
	case step < time.Minute:
		return "15:04:05"
	case step >= 24*time.Hour:
		return "Jan 02"
	}
	return "15:04"
}

func trimRight(line []byte) []byte {
	for len(line) > 0 && line[len(line)-1] == ' ' {
		line = line[:len(line)-1]
	}
	return line
}
