package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"vademecum/vault"
)

// configProblem is one thing that is wrong with a config, or that its owner may
// not have meant. It never holds a secret.
type configProblem struct {
	Line    int    `json:"line"` // from 1; 0: of the file as a whole
	Column  int    `json:"column"`
	Key     string `json:"key"` // the path to it, e.g. profiles.passive.routes.mem0.weight
	Problem string `json:"problem"`
	Remedy  string `json:"remedy,omitempty"`
	Warning bool   `json:"warning"` // it works all the same
}

// String is "line 3: hooks.inject: …".
func (p configProblem) String() string {
	where := ""
	if p.Line > 0 {
		where = fmt.Sprintf("line %d: ", p.Line)
	}
	if p.Key != "" {
		where += p.Key + ": "
	}
	return where + p.Problem
}

// sortProblems orders problems as they stand in the file, each once.
func sortProblems(list []configProblem) []configProblem {
	slices.SortStableFunc(list, func(a, b configProblem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), strings.Compare(a.Key, b.Key))
	})
	return slices.Compact(list)
}

// firstProblem is the first of problems that is no warning.
func firstProblem(list []configProblem) (configProblem, bool) {
	i := slices.IndexFunc(list, func(p configProblem) bool { return !p.Warning })
	if i < 0 {
		return configProblem{}, false
	}
	return list[i], true
}

// shownLength is the length up to which a text of a config is repeated in
// messages. Keys of services are longer.
const shownLength = 32

// shown is a text of the config as messages repeat it: quoted, and only what
// cannot be a secret.
func shown(text string) string {
	if !harmless(text) {
		return fmt.Sprintf("a text of %s", count(utf8.RuneCountInString(text), "character", "characters"))
	}
	return fmt.Sprintf("%q", text)
}

// shownKey is a key as paths repeat it.
func shownKey(key string) string {
	if !harmless(key) {
		return "…"
	}
	if strings.ContainsAny(key, ". \t\n\"'\\") {
		return fmt.Sprintf("%q", key)
	}
	return printable(key)
}

func harmless(text string) bool {
	return utf8.RuneCountInString(text) <= shownLength && len(vault.FindSecrets(text)) == 0
}

// closest is the one of words that word is most likely a slip of; "" for none.
func closest(word string, words []string) string {
	best, least := "", 1+min(2, len(word)/3)
	for _, w := range slices.Sorted(slices.Values(words)) {
		if d := editDistance(word, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// editDistance counts the letters to insert, delete, replace or swap with their
// neighbour that make b of a (optimal string alignment).
func editDistance(a, b string) int {
	if len(a) > 2*shownLength {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
