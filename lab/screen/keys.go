package screen

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// keyHelp is what the help shows.
var keyHelp = []string{
	"up down  select a direction of a link   tab    the other direction",
	"d D      less, more delay               space  change both ways, or one",
	"l L      less, more loss                x      take the link down, or up again",
	"r R      less, more rate                e      type KEY=VALUE, as for lab set",
	"b B      less, more buffer (queue)      q      quit",
}

// press does what a key stands for.
func (m model) press(key string) (tea.Model, tea.Cmd) {
	if key == "q" || key == "ctrl+c" {
		return m, tea.Quit
	}
	if m.state == nil || len(m.state.Links) == 0 {
		return m, nil
	}
	m.message = ""
	switch key {
	case "up", "k":
		m.selected = max(0, m.selected-1)
	case "down", "j":
		m.selected = min(2*len(m.state.Links)-1, m.selected+1)
	case "home":
		m.selected = 0
	case "end":
		m.selected = 2*len(m.state.Links) - 1
	case "tab":
		m.selected ^= 1
	case "space":
		m.both = !m.both
	case "?":
		m.help = !m.help
	case "esc":
		m.help = false
	case "e":
		m.editing, m.input = true, ""
	default:
		return m.change(key)
	}
	return m, nil
}

// edit takes a key while a setting is being typed.
func (m model) edit(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	switch key.String() {
	case "ctrl+c":
		return m, tea.Quit
	case "esc":
		m.editing = false
	case "ctrl+u":
		m.input = ""
	case "backspace":
		if runes := []rune(m.input); len(runes) > 0 {
			m.input = string(runes[:len(runes)-1])
		}
	case "enter":
		m.editing = false
		if setting := strings.TrimSpace(m.input); setting != "" {
			return m.set(setting)
		}
	default:
		m.input += key.Text
	}
	return m, nil
}

// change takes a step of the setting that a key stands for: a small letter down, a capital up.
func (m model) change(key string) (tea.Model, tea.Cmd) {
	shape := m.shapeOf(m.selected)
	up := key == strings.ToUpper(key)
	var setting string
	var err error
	switch strings.ToLower(key) {
	case "d":
		setting = stepDelay(shape, up)
	case "l":
		setting, err = stepLoss(shape, up)
	case "r":
		setting, err = stepRate(shape, up)
	case "b":
		setting, err = stepQueue(shape, up)
	case "x":
		setting = fmt.Sprintf("down=%t", shape.Down == nil || !bool(*shape.Down))
		return m.set(setting) // a link is up or down as a whole
	default:
		return m, nil
	}
	if err != nil {
		m.message = err.Error()
		return m, nil
	}
	switch {
	case m.both:
	case m.selected%2 == 0:
		setting = "forward." + setting
	default:
		setting = "reverse." + setting
	}
	return m.set(setting)
}
