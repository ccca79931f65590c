package vault

import (
	"testing"
)

func TestCanonical(t *testing.T) {
	tests := []struct{ name, title, body, want string }{
		{"as it is", "t", "one\ntwo", "one\ntwo"},
		{"line ends", "t", "one\r\ntwo\rthree\n", "one\ntwo\nthree"},
		{"space behind", "t", "one \t\n two\u00a0\n", "one\n two"},
		{"blank lines around", "t", "\n \n\none\n\n\ntwo\n\n", "one\n\n\ntwo"},
		{"one line", "t", "  one  ", "  one"},
		{"NFC", "t", "e\u0301\n", "é"},
		{"BOM", "t", "\ufeffone\n", "one"},
		{"blank body", " The title \n", " \n\t\n", " The title"},
		{"nothing", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Canonical(tt.title, tt.body)
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if again := Canonical("", got); again != got {
				t.Errorf("again: %q", again)
			}
		})
	}
}

func TestDigest(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	d := NewDigest(key, "t", "one\r\n")
	if d != NewDigest(key, "other title", "one") || d == NewDigest(key, "t", "two") || d == NewDigest([]byte("k"), "t", "one") || d.IsZero() {
		t.Error("a digest follows key and canonical text, and nothing else")
	}
	back, err := ParseDigest(d.String())
	if err != nil || back != d || len(d.String()) != 32 {
		t.Errorf("%s reads back as %s, %v", d, back, err)
	}
	for _, s := range []string{"", "xy", d.String() + "00"} {
		if _, err := ParseDigest(s); err == nil {
			t.Errorf("%q is no digest", s)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	f.Add("title", "one \r\n\r\n two\n")
	f.Fuzz(func(t *testing.T, title, body string) {
		got := Canonical(title, body)
		if again := Canonical(title, got); got != "" && again != got {
			t.Fatalf("%q is %q, and of that %q", body, got, again)
		}
	})
}
