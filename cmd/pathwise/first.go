package main

import "fmt"

// firstSteps are what to try before anything else is known of the program, with what each is for.
var firstSteps = [][2]string{
	{"pathwise demo", "a slow path, its cause and its cure, played here"},
	{"pathwise ping HOST", "round trips to a host, each as it comes"},
	{"pathwise trace HOST", "the route to it"},
	{"pathwise respond", "on a host of yours far away; then here:"},
	{"pathwise diagnose HOST", "why the path there is slow, and what to change"},
	{"pathwise explain loss budget", "what the words of the field mean"},
}

// sayFirst says what to try first.
func (s *session) sayFirst() {
	p := s.screen()
	fmt.Fprintf(s.out, "Pathwise measures network paths, says why one is slow, and what to change.\n\n%s\n", p.Strong("Try first:"))
	for _, step := range firstSteps {
		fmt.Fprintf(s.out, "  %s  %s\n", p.Accent(fmt.Sprintf("%-28s", step[0])), step[1])
	}
	fmt.Fprintf(s.out, "\nAll commands: %s. Of one: %s.\n", p.Accent("pathwise --help"), p.Accent("pathwise help COMMAND"))
}
