package measure

// Severity grades a Finding. Only warnings and problems make a path unhealthy.
type Severity string

const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Problem Severity = "problem"
)

// Finding is one thing that was found out about a path, with what shows it and what to do about it.
type Finding struct {
	ID          string     `json:"id"`
	Severity    Severity   `json:"severity"`
	Confidence  float64    `json:"confidence"` // 0..1
	Where       string     `json:"where"`      // which end, host or link
	Way         Way        `json:"way"`        // of the data that it is about; "": of both, or of neither
	Evidence    []Evidence `json:"evidence"`
	Explanation string     `json:"explanation"`
	Advice      []Advice   `json:"advice"`
	Predicted   *Predicted `json:"predicted"` // nil: no speed can be promised
}

// Evidence is one number that the finding rests on, and what it means in plain words.
type Evidence struct {
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Means  string  `json:"means"`
	Result string  `json:"result,omitempty"` // ID of the Result that says so; "": several do
}

// Advice is one thing to do: on which host, by which command, and why it helps.
type Advice struct {
	Host    string `json:"host"`
	Command string `json:"command"` // empty where no command can do it, such as replacing a cable
	Why     string `json:"why"`
}

// Predicted is the speed to expect once the advice is followed, and what that prediction rests on.
type Predicted struct {
	BitsPerSecond float64 `json:"throughput_bits_per_second"`
	Basis         string  `json:"basis"`
}
