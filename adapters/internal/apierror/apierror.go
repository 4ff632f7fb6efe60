// Package apierror classifies errors of a model's API.
package apierror

import "github.com/turnspec/turnspec/adapters/event"

// FromStatus returns the error code of an HTTP status, or event.ErrorUnknown if
// the status is not an error.
func FromStatus(status int) event.ErrorCode {
	switch {
	case status == 401, status == 403:
		return event.ErrorAuth
	case status == 402:
		return event.ErrorBilling
	case status == 404:
		return event.ErrorModel
	case status == 413:
		return event.ErrorContext
	case status == 429:
		return event.ErrorRateLimit
	case status == 503, status == 529:
		return event.ErrorOverloaded
	case status >= 500:
		return event.ErrorModel
	case status >= 400:
		return event.ErrorInvalid
	}
	return event.ErrorUnknown
}
