// Package providertest is what every provider is held to.
//
// [Run] is the suite of the contract in package providers. [Faults] is what an
// adapter of an HTTP service must make of a network and a service that misbehave.
// [Fixtures] plays recorded exchanges and checks every request of the adapter
// against the service's OpenAPI document. [Memory] is a provider in memory, and
// [Faulty] makes one misbehave. [Bench] measures.
package providertest
