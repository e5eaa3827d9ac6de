// Package api sends requests to an API server and reads the responses within limits. It has the transports, the pages
// of lists, the masks for fields in protobuf, and the errors for missing responses.
package api
