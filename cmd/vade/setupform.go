package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"vademecum/hooks/install"
)

// errNoAnswer: the input ended before a question was answered.
var errNoAnswer = errors.New("no answer")

// form asks a person, a line at a time. There is one in a run, because it reads
// ahead.
type form struct {
	a  *app
	in *bufio.Reader
}

// line asks a question and returns what was answered, "" for a bare Enter.
func (f *form) line(question string) (string, error) {
	f.a.printf("%s ", question)
	text, err := f.in.ReadString('\n')
	if errors.Is(err, io.EOF) && text != "" {
		err = nil
	}
	if err != nil {
		f.a.printf("\n")
		return "", hinted(errNoAnswer, "nothing was written; every answer is a flag too: vade setup --help")
	}
	return strings.TrimSpace(text), nil
}

// yes asks for yes or no.
func (f *form) yes(question string, standard bool) (bool, error) {
	choice := "[y/N]"
	if standard {
		choice = "[Y/n]"
	}
	for {
		text, err := f.line(question + " " + choice)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(text) {
		case "":
			return standard, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

// tick lets a person tick and untick choices by their numbers.
func (f *form) tick(question string, choices []string, on []bool) error {
	for {
		for i, c := range choices {
			mark := " "
			if on[i] {
				mark = f.a.paint(green, "x")
			}
			f.a.printf("  [%s] %2d  %s\n", mark, i+1, c)
		}
		text, err := f.line(question)
		if err != nil || text == "" {
			return err
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.Atoi(word)
			if err != nil || n < 1 || n > len(choices) {
				f.a.printf("%s is none of 1 to %d\n", oneLine(word), len(choices))
				continue
			}
			on[n-1] = !on[n-1]
		}
	}
}

// askSetup fills in c as a person answers. known is the remote that there is
// already, captures what is said about captured turns so far.
func (f *form) askSetup(h install.Host, c *setupChoice, known, captures string) (err error) {
	a := f.a
	a.printf("%s\n", a.paint(bold, "Agents that are to have this memory:"))
	var labels []string
	on := make([]bool, len(install.Names))
	for i, name := range install.Names {
		r := h.Report(name)
		label := fmt.Sprintf("%-12s", r.Title)
		switch {
		case r.Plugin != "":
			label += " has vade as a plugin"
		case r.Found != "":
			label += " " + a.paint(dim, oneLine(r.Found))
			on[i] = true
		default:
			label += " not found"
		}
		labels = append(labels, label)
	}
	if err := f.tick("Numbers to change, Enter to go on:", labels, on); err != nil {
		return err
	}
	for i, name := range install.Names {
		if on[i] {
			c.agents = append(c.agents, name)
		}
	}
	if len(c.agents) == 0 {
		c.agents = []string{"none"}
	} else if c.mcp, err = f.yes("Give them the MCP tools and the skill too?", true); err != nil {
		return err
	}
	if known == "" {
		if c.remote, err = f.line("Git URL to sync to (Enter for none, it can be set later):"); err != nil {
			return err
		}
	}
	if captures != "" || slices.Equal(c.agents, []string{"none"}) {
		return nil
	}
	a.printf("Agents' turns are captured on this host, with secrets taken out.\n")
	ok, err := f.yes("May captured turns go to the remote, when there is one?", false)
	if c.capture = "never"; ok {
		c.capture = "always"
	}
	return err
}
