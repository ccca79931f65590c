// Package rest is the JSON-over-HTTP client that all adapters of HTTP services
// share: one transport a service, credentials that go nowhere else and are in
// no message, bodies that are bounded, and errors that say what to do next.
//
// It makes one request and does not repeat it: that is its callers' business.
package rest
