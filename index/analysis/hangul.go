package analysis

import (
	"strings"
	"sync"
)

// place is one character of a run, by its range in the normalised text.
type place struct{ start, end int }

// syllable is the size of a Hangul syllable in UTF-8.
const syllable = 3

// hangul emits the pairs of the Korean word at at, without its particle or
// ending, and returns the word's end. A word that is nothing but a particle
// behind another script (GitHub로만) gives nothing.
func (a *Analyzer) hangul(b []byte, at int, last run) int {
	end := at
	for end < len(b) {
		c, size := classAt(b, end)
		if c != hangul {
			break
		}
		end += size
	}
	word := b[at:end]
	if last.end == at && (last.class == latin || last.class == han) && particles()[string(word)] != 0 {
		return end
	}
	a.pairs(b[:at+len(stripParticle(word))], at)
	return end
}

// pairs emits the overlapping pairs of the characters from at to the end of b;
// a lone character stands for itself.
func (a *Analyzer) pairs(b []byte, at int) {
	first, prev := at, -1
	for i := at; i < len(b); {
		size := runeSize(b[i])
		if prev >= 0 {
			a.put(b[prev:i+size], Pair, prev, i+size)
		}
		prev = i
		i += size
	}
	if prev == first {
		a.put(b[first:], Word, first, len(b))
	}
}

// stripParticle cuts the longest particle or ending off word, as long as two
// syllables remain. One is enough before those that stand behind any noun.
func stripParticle(word []byte) []byte {
	table := particles()
	n := len(word) / syllable
	for k := min(maxParticle, n-1); k > 0; k-- {
		at := len(word) - k*syllable
		kind := table[string(word[at:])]
		if kind == 0 {
			continue
		}
		if n-k >= 2 || kind == afterAny {
			return word[:at]
		}
	}
	return word
}

const (
	ending   = 1 // needs two syllables before it
	afterAny = 2 // one syllable is enough
	// maxParticle is the longest entry, in syllables.
	maxParticle = 4
)

// particles holds the particles (josa) and the endings that most often follow
// a noun or the stem of a noun verb.
var particles = sync.OnceValue(func() map[string]int {
	m := map[string]int{}
	for w := range strings.FieldsSeq(`
		이 가 와 과 도 만 로 나 랑 며 고 들 란 든 인 일 께 뿐 한 할 함 해
		으로 로서 로써 으로서 으로써 이나 이랑 이며 이고 이란 이든 라도 이라도 라고 이라고 라는 이라는 라면 이라면
		하고 마저 조차 밖에 같이 마다 대로 만큼 에게 에게서 한테 한테서 께서 이라 에선 에겐
		에도 에만 에서는 에서도 에서만 에서의 으로는 으로도 으로만 으로의 로는 로도 로만 로의 와는 과는 와의 과의
		까지는 까지도 까지만 부터는 에게는 에게도 한테는 만은 만을 만이 보다는 처럼은
		들이 들은 들을 들의 들도 들과 들에게 들에서 들로
		하다 한다 합니다 했다 했습니다 하는 하며 하면 하여 해서 해야 하지 하기 하게 하자 하려면 하세요 해요 했어요 하던 하는데 한다면 할까 할지
		된다 됩니다 되는 되고 되며 되면 되어 돼서 됐다 되었다 되지 되나요 됐습니다
		이다 입니다 였다 이었다 인가 인가요 인지 이에요 예요 이지 지만 이지만 나요 까요 습니다 습니까 네요 는지 는데`) {
		m[w] = ending
	}
	for w := range strings.FieldsSeq(`은 는 을 를 의 에 에서 에는 까지 부터 처럼 보다`) {
		m[w] = afterAny
	}
	return m
})
