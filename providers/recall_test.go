package providers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vademecum/vault"
)

func recallText(t *testing.T, r *Router, s *shelf, limit int) Answer {
	t.Helper()
	a, err := r.Recall(t.Context(), Query{Text: "when is the tide high", Limit: limit}, s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestWhatIsOursIsShownFromTheVault(t *testing.T) {
	s := &shelf{
		found: []vault.Hit{ours("A", "high tide at noon")},
		has:   map[string]vault.Hit{"B": ours("B", "the harbour is closed at high tide")},
		fates: map[string]Fate{"C": Forgotten, "D": Expired},
	}
	r := &Router{Vault: "mine", Sources: []Source{{Provider: &source{name: "zep", hits: []Hit{
		{Ref: "1", ID: "B", Vault: "mine", Text: "an old text of B"},
		{Ref: "2", ID: "C", Vault: "mine", Text: "what was forgotten"},
		{Ref: "3", ID: "D", Vault: "mine", Text: "what has expired"},
		{Ref: "4", ID: "E", Vault: "mine", Text: "what has not come from the other host yet"},
		{Ref: "5", ID: "A", Vault: "mine", Text: "high tide"},
		{Ref: "6", ID: "A", Vault: "mine", Text: "another part of it"},
		{Ref: "7", ID: "F", Vault: "another", Text: "tide of another vault"},
	}}}}}
	a := recallText(t, r, s, 9)
	want := "high tide at noon <vault zep>; the harbour is closed at high tide <zep>; tide of another vault <zep>"
	if got := texts(a); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := fmt.Sprint(a.Gone); got != "[{zep C 2} {zep D 3}]" {
		t.Errorf("gone: %s", got)
	}
	if last := a.Hits[2]; !last.Foreign || last.Ref != "7" || last.ID != "" || last.Path != "" {
		t.Errorf("foreign: %+v", last)
	}
}

func TestReceiptsTellWhoseItIs(t *testing.T) {
	r := &Router{Book: func(provider string, ref Ref) (string, bool) { return "A", provider == "zep" && ref == "edge" }}
	r.Sources = []Source{{Provider: &source{name: "zep", hits: []Hit{{Ref: "edge", Text: "tide"}}}}}
	a := recallText(t, r, &shelf{has: map[string]vault.Hit{"A": ours("A", "high tide at noon")}}, 5)
	if got := texts(a); got != "high tide at noon <zep>" {
		t.Error(got)
	}
}

func TestTheSameTextIsOneHitWithinAScope(t *testing.T) {
	team := ours("T", "The Tide is high")
	team.Scope = vault.Scope{Type: "team", ID: "acme"}
	r := &Router{Sources: []Source{
		{Provider: &source{name: "mem0", hits: foreign("the tide  is HIGH", "ｔｉｄｅ two")}},
		{Provider: &source{name: "zep", hits: foreign("tide two", "The tide is high")}},
	}}
	a := recallText(t, r, &shelf{found: []vault.Hit{team}}, 9)
	if got := texts(a); got != "The Tide is high <vault>; the tide  is HIGH <mem0 zep>; ｔｉｄｅ two <mem0 zep>" {
		t.Error(got)
	}
	team.Scope = vault.Scope{}
	a = recallText(t, r, &shelf{found: []vault.Hit{team}}, 9)
	if got := texts(a); got != "The Tide is high <vault mem0 zep>; ｔｉｄｅ two <mem0 zep>" {
		t.Error(got)
	}
}

func TestRoutesFilterWhatIsOurs(t *testing.T) {
	stm := ours("S", "tide today")
	stm.Tier = vault.STM
	r := &Router{Sources: []Source{{
		Provider: &source{name: "zep", hits: []Hit{{ID: "S"}, {ID: "L"}}},
		Tiers:    []vault.Tier{vault.LTM},
	}}}
	s := &shelf{has: map[string]vault.Hit{"S": stm, "L": ours("L", "tide tables")}}
	if got := texts(recallText(t, r, s, 5)); got != "tide tables <zep>" {
		t.Error(got)
	}
}

func TestOrderByTheKindOfScore(t *testing.T) {
	hits := []Hit{{Text: "b", Score: new(0.5)}, {Text: "none"}, {Text: "a", Score: new(0.1)}, {Text: "c", Score: new(0.9)}}
	for kind, want := range map[ScoreKind]string{
		Similarity: "c b a none", Distance: "a b c none", Ordinal: "b none a c", Unscored: "b none a c",
	} {
		s := Source{Provider: &source{kind: kind}}
		var got []string
		for _, h := range s.ordered(hits, 9) {
			got = append(got, h.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", kind, got, want)
		}
	}
	s := Source{Provider: &source{kind: Similarity}, MinRelevance: 0.2}
	if got := s.ordered(hits, 9); len(got) != 3 {
		t.Errorf("kept %v", got)
	}
	constant := []Hit{{Text: "first", Score: new(1.0)}, {Text: "second", Score: new(1.0)}}
	if got := s.ordered(constant, 1); got[0].Text != "first" || len(got) != 1 {
		t.Errorf("constant scores: %v", got)
	}
}

func TestTheVaultAloneIsAsItWas(t *testing.T) {
	var found []vault.Hit
	for i := range 12 { // the older, the better: recency must not turn it round
		h := ours(fmt.Sprint(i), fmt.Sprint("tide ", i))
		h.Updated = time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		found = append(found, h)
	}
	alone := texts(recallText(t, &Router{}, &shelf{found: found}, 12))
	for _, hits := range [][]Hit{nil, {{ID: "gone"}}, {{ID: "0"}}, foreign("nothing to the point")} {
		r := &Router{Sources: []Source{{Provider: &source{name: "zep", hits: hits}}}}
		got := strings.ReplaceAll(texts(recallText(t, r, &shelf{found: found}, 12)), " zep>", ">")
		if got != alone {
			t.Errorf("with %v: %s\nalone: %s", hits, got, alone)
		}
	}
}
