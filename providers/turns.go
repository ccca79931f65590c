package providers

// TurnKeeper is a provider that makes something of the turns of a session, so
// that a captured session is cut between turns and never joined: the outbox
// hands over each turn as a part of its own.
type TurnKeeper interface {
	PreserveTurnBoundaries() bool
}

// KeepsTurns reports whether p wants turns as they are.
func KeepsTurns(p Provider) bool {
	k, ok := p.(TurnKeeper)
	return ok && k.PreserveTurnBoundaries()
}
