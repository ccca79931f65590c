package analysis

import (
	"strings"
	"sync"

	"github.com/blevesearch/snowballstem/english"
)

// maxMemo bounds the stem cache of an Analyzer, in words.
const maxMemo = 1 << 16

// stem returns the term of a lower-case word: its canonical form when it has
// one, the Porter2 stem of its base form when it is made of letters, nothing for a stop word.
func (a *Analyzer) stem(word []byte) []byte {
	if t, ok := a.mem[string(word)]; ok {
		a.term = append(a.term[:0], t...)
		return a.term
	}
	if len(a.mem) >= maxMemo {
		clear(a.mem)
	}
	w := string(word)
	t := a.lookup(w)
	a.mem[w] = t
	a.term = append(a.term[:0], t...)
	return a.term
}

func (a *Analyzer) lookup(w string) string {
	if canonical, ok := aliases()[w]; ok {
		return canonical
	}
	if stopWords()[w] {
		return ""
	}
	if base, ok := forms()[w]; ok {
		w = base
	}
	if len(w) < 3 || len(w) > MaxRunes || !lettersOnly(w) {
		return w
	}
	a.env.SetCurrent(w)
	english.Stem(a.env)
	return a.env.Current()
}

func lettersOnly(w string) bool {
	for i := range len(w) {
		if !isLower(w[i]) {
			return false
		}
	}
	return true
}

// stopWords are the English words that say nothing about a text's subject.
// Contractions stand without their apostrophe, as the tokenizer gives them.
var stopWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
		a an and are as at be been being but by can cant could did didnt do does doesnt doing dont for from
		had has have having he her here him his how i id if ill im in into is isnt it its ive just me my no
		not of on or our she should so such than that thats the their them then there these they this those
		to too us was we were what whats when where which while who whom whose why will with would you your`) {
		m[w] = true
	}
	return m
})

// aliases gives developers' short and long forms one term. Only words that
// mean the same in nearly every text are here: each line is one meaning, its
// first word the term.
var aliases = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(`
config configs configuration configurations cfg conf
repo repos repository repositories
auth authentication authenticate authenticated authenticates authenticating authn
authz authorization authorisation authorize authorized
db dbs database databases
env envs environment environments
k8s kubernetes kube
dep deps dependency dependencies
doc docs documentation
dir dirs directory directories folder folders
js javascript
ts typescript
py python
postgres postgresql pgsql
param params parameter parameters
arg args argument arguments
func funcs function functions fn
msg msgs message messages
pwd password passwords passwd
ctx context contexts
impl implementation implementations
admin admins administrator administrators
app apps application applications
prod production
dev development
perf performance
tmp temp temporary
spec specs specification specifications
regex regexes regexp regexps
pkg pkgs package packages
lib libs library libraries
img imgs image images
src source sources
attr attrs attribute attributes
char chars character characters
int ints integer integers
bool boolean booleans
str string strings
num nums number numbers
max maximum
min minimum
init initialize initialise initialization initialized
exec execute executes executed execution
info information
dict dicts dictionary dictionaries
len length lengths
var vars variable variables
val vals value values
obj objs object objects
err errs error errors
cmd cmds command commands
elem elems element elements
addr addrs address addresses
conn conns connection connections
idx index indexes indices
iter iterator iterators iterate iterates iterating iterable iterables iteration iterations
del delete deletes deleted deleting deletion
calc calculate calculates calculated calculating calculation
avg average averages
concat concatenate concatenates concatenated concatenating concatenation
expr exprs expression expressions
stmt stmts statement statements
req reqs request requests
resp response responses
prev previous
ref refs reference references
pos position positions
seq seqs sequence sequences
desc description descriptions
cert certs certificate certificates
mem memory memories
cols col column columns
sync synchronize synchronization synchronise
async asynchronous asynchronously`), "\n") {
		words := strings.Fields(line)
		for _, w := range words {
			m[w] = words[0]
		}
	}
	return m
})
