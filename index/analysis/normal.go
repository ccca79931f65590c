package analysis

import (
	"sort"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// normalized is a text in NFKC, with the way back to the text as given.
type normalized struct {
	bytes  []byte
	pieces []piece // none: offsets are the same
	size   int     // of the text as given
	buf    []byte  // room for bytes
	seg    []byte  // room for one normalised segment
}

// piece is a stretch of normalised text that was taken over as it was (same)
// or replaced something else. It ends where the next one starts.
type piece struct {
	norm, orig int
	same       bool
}

func (n *normalized) set(text []byte) {
	n.bytes, n.pieces, n.size = text, n.pieces[:0], len(text)
	span := norm.NFKC.QuickSpan(text)
	if span == len(text) {
		return
	}
	out := n.buf[:0]
	for at := 0; ; {
		if span > 0 {
			n.pieces = append(n.pieces, piece{len(out), at, true})
			out = append(out, text[at:at+span]...)
			at += span
		}
		if at == len(text) {
			break
		}
		size := norm.NFKC.NextBoundary(text[at:], true)
		if size <= 0 {
			size = len(text) - at
		}
		n.pieces = append(n.pieces, piece{len(out), at, false})
		n.seg = norm.NFKC.Append(n.seg[:0], text[at:at+size]...)
		out = append(out, n.seg...)
		at += size
		span = norm.NFKC.QuickSpan(text[at:])
	}
	n.bytes, n.buf = out, out
}

// origin maps a range of the normalised text to the smallest range of whole
// runes that it comes from.
func (n *normalized) origin(start, end int) (from, to int) {
	if len(n.pieces) == 0 {
		return start, end
	}
	i := n.find(start)
	if p := n.pieces[i]; p.same {
		from = p.orig + start - p.norm
	} else {
		from = p.orig
	}
	i = n.find(max(end-1, start))
	switch p := n.pieces[i]; {
	case p.same:
		to = p.orig + end - p.norm
	case i+1 < len(n.pieces):
		to = n.pieces[i+1].orig
	default:
		to = n.size
	}
	return from, to
}

// find returns the piece that holds position at.
func (n *normalized) find(at int) int {
	return sort.Search(len(n.pieces), func(i int) bool { return n.pieces[i].norm > at }) - 1
}

// foldLatin returns the plain Latin letters of r, which is a lower-case Latin
// letter outside ASCII: é gives e, ß gives ss. Letters without a plain form
// stay.
func foldLatin(dst []byte, r rune) []byte {
	if s, ok := plainLatin[r]; ok {
		return append(dst, s...)
	}
	var in [utf8.UTFMax]byte
	size := utf8.EncodeRune(in[:], r)
	d := norm.NFD.Properties(in[:size]).Decomposition()
	if len(d) > 0 && d[0] < utf8.RuneSelf {
		return append(dst, d[0])
	}
	return utf8.AppendRune(dst, r)
}

// plainLatin are the letters whose stroke or ligature Unicode does not take apart.
var plainLatin = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ħ': "h", 'ı': "i", 'ŧ': "t",
}
