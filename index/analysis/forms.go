package analysis

import (
	"strconv"
	"strings"
	"sync"
)

// forms gives what the stemmer cannot take back to its base form: went is go,
// children is child, and three is 3, as people write either. Forms that are as
// often another word (lives, leaves, bound, lay) are not here.
var forms = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for line := range strings.SplitSeq(irregular, "\n") {
		words := strings.Fields(line)
		for _, w := range words[1:] {
			m[w] = words[0]
		}
	}
	for n, w := range strings.Fields("zero one two three four five six seven eight nine ten eleven twelve") {
		m[w] = strconv.Itoa(n)
	}
	return m
})

// irregular is one word a line, its base form first.
const irregular = `Eawake awoke awoken
become became
begin began begun
bend bent
bite bit bitten
bleed bled
blow blew blown
break broke broken
bring brought
build built
buy bought
catch caught
choose chose chosen
come came
deal dealt
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone goes
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
know knew known
lead led
learn learnt
leave left
lend lent
lose lost
make made
mean meant
meet met
pay paid
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
speed sped
spend spent
stand stood
steal stole stolen
stick stuck
strike struck
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
win won
write wrote written
child children
foot feet
man men
mouse mice
person people
tooth teeth
woman women
wife wives
knife knives
shelf shelves
half halves
analysis analyses
hypothesis hypotheses
criterion criteria
vertex vertices
matrix matrices
good better best
bad worse worst
axis axes
bear borne`
