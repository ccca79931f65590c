package eval

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func found(ids string) []Found {
	var list []Found
	for id := range strings.FieldsSeq(ids) {
		list = append(list, Found{ID: id})
	}
	return list
}

func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		name  string
		found string
		gold  map[string]int
		want  Metrics
	}{
		{"nothing found", "", map[string]int{"a": 1}, Metrics{}},
		{"nothing judged", "a b", nil, Metrics{}},
		{"first", "a b", map[string]int{"a": 1}, Metrics{1, 1, 1, 1, 1}},
		{"third of one", "x y a", map[string]int{"a": 1}, Metrics{0, 1, 1, 1.0 / 3, .5}},
		{"sixth", "1 2 3 4 5 a", map[string]int{"a": 1}, Metrics{0, 0, 1, 1.0 / 6, 1 / math.Log2(7)}},
		{"eleventh does not count", "1 2 3 4 5 6 7 8 9 10 a", map[string]int{"a": 1}, Metrics{}},
		{"one of two", "a x", map[string]int{"a": 1, "b": 1}, Metrics{.5, .5, .5, 1, 1 / (1 + 1/math.Log2(3))}},
		{"graded, in the wrong order", "b a", map[string]int{"a": 2, "b": 1}, Metrics{.5, 1, 1, 1, (1 + 2/math.Log2(3)) / (2 + 1/math.Log2(3))}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Measure(found(c.found), c.gold), cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunsSurviveTheirFile(t *testing.T) {
	run := Run{"q2": {{ID: "d1", Score: 2.5}, {ID: "d2", Score: .25}}, "q1": {{ID: "s:1", Score: 1}}}
	var b bytes.Buffer
	if err := run.Write(&b, "vade"); err != nil {
		t.Fatal(err)
	}
	if want := "q1 Q0 s:1 1 1.0000 vade\nq2 Q0 d1 1 2.5000 vade\nq2 Q0 d2 2 0.2500 vade\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	back, err := ReadRun(&b)
	if diff := cmp.Diff(run, back); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"q1 Q0 d1 1 2\n", "q1 Q0 d1 x 2 t\n", "q1 Q0 d1 1 y t\n"} {
		if _, err := ReadRun(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read without an error", bad)
		}
	}
}

// scoresOf are the scores of questions whose reciprocal rank is given.
func scoresOf(mrr ...float64) Scores {
	s := Scores{PerQuery: map[string]Metrics{}}
	var all []Metrics
	for i, v := range mrr {
		m := Metrics{MRR: v}
		s.PerQuery[string(rune('a'+i))] = m
		all = append(all, m)
	}
	s.Metrics = Mean(all)
	return s
}

func TestCompareTellsChanceFromChange(t *testing.T) {
	same := Compare(scoresOf(1, .5, 0), scoresOf(1, .5, 0))[3]
	if same.P != 1 || same.Delta != 0 {
		t.Errorf("equal runs: %+v", same)
	}
	// Ten wins of equal size: of 1024 ways to deal the labels, two are as extreme.
	better := Compare(scoresOf(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), scoresOf(1, 1, 1, 1, 1, 1, 1, 1, 1, 1))[3]
	if better.Wins != 10 || better.Losses != 0 || math.Abs(better.P-2.0/1024) > .0015 {
		t.Errorf("ten wins: %+v, want p about %v", better, 2.0/1024)
	}
	mixed := Compare(scoresOf(0, 1, 0, 1), scoresOf(1, 0, 1, 0))[3]
	if mixed.P < .9 {
		t.Errorf("as many wins as losses: %+v", mixed)
	}
	if again := Compare(scoresOf(0, 1, 0, 1), scoresOf(1, 0, 1, 0))[3]; again != mixed {
		t.Errorf("the same runs give %+v and %+v", mixed, again)
	}
}

func writeCollection(t *testing.T, corpus, queries, gold string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{corpusFile: corpus, queriesFile: queries, "qrels.tsv": gold} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPassagesOfASessionAreOneNote(t *testing.T) {
	dir := writeCollection(t, `{"_id":"b","text":"--- second\n# of the boat","metadata":{"session":"s","seq":1}}
{"_id":"x","title":"Alone","text":"a ferry"}
{"_id":"a","text":"first of the boat","metadata":{"session":"s","seq":0}}
{"_id":"c","title":"Other title","text":"third 部署","metadata":{"session":"s","seq":2}}
`, `{"_id":"1","text":"second"}
{"_id":"2","text":"ferry"}
{"_id":"3","text":"部署"}
{"_id":"4","text":"the boat"}
{"_id":"5","text":"unjudged"}
`, "query-id\tcorpus-id\tscore\n1\tb\t1\n2\tx\t1\n3\tc\t1\n4\ta\t1\n4\tb\t1\n")
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	src := c.Source()
	if src.Len() != 2 || !src.Sessions || !src.Singles || len(c.Queries) != 4 {
		t.Fatalf("%d notes, %+v, %d questions", src.Len(), src, len(c.Queries))
	}
	run, err := c.Answers(t.Context(), t.TempDir(), 10, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := Score("x", []*Collection{c}, run)
	if s.Recall5 != 1 || s.MRR != 1 {
		t.Errorf("scores %+v of run %+v", s.Metrics, run)
	}
}

func TestBadCollectionsAreNamed(t *testing.T) {
	for _, c := range []struct{ name, corpus, queries, gold, want string }{
		{"corpus", "{\"_id\":\"a\"}\nnonsense\n", "", "", "corpus.jsonl, entry 2"},
		{"queries", "{}", "[1]", "", "queries.jsonl, entry 1"},
		{"columns", "{}", "{}", "q d\n", "qrels.tsv:1"},
		{"relevance", "{}", "{}", "q d 1\nq d much\n", "qrels.tsv:2"},
	} {
		_, err := Open(writeCollection(t, c.corpus, c.queries, c.gold))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want it to name %q", c.name, err, c.want)
		}
	}
	if _, err := Find(t.TempDir()); err == nil {
		t.Error("an empty folder is a collection")
	}
}

func FuzzReadRun(f *testing.F) {
	f.Add("q1 Q0 d1 1 2.5 vade\n\nq1 Q0 d2 2 1e9 vade")
	f.Fuzz(func(t *testing.T, text string) {
		run, err := ReadRun(strings.NewReader(text))
		if err != nil {
			return
		}
		for id := range run {
			Measure(run[id], map[string]int{"d1": 1})
		}
	})
}
