// Package api sends one bounded request to an API server and reads its answer. It has the transports, the pages of
// lists, the mask of the fields that are decoded from protobuf, and the errors that say why there is no answer.
package api
