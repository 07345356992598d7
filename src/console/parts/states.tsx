import type { ComponentChildren } from 'preact'
import { ApiError } from '../answers.js'

/** What a page shows when it has no data. */

export function Loading({ what }: { readonly what: string }) {
  return (
    <p class="state" role="status">
      <span class="spinner" aria-hidden="true" />
      Loading {what}…
    </p>
  )
}

export function Empty(shown: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="state empty">
      <p class="state-title">{shown.title}</p>
      {shown.children}
    </div>
  )
}

/** The service's own sentence, the request id to quote, and a retry button. */
export function Problem({
  error,
  retry,
}: {
  readonly error: unknown
  readonly retry?: () => void
}) {
  const words = error instanceof Error ? error.message : String(error)
  const requestId = error instanceof ApiError ? error.requestId : null
  const issues = error instanceof ApiError ? issuesOf(error.details) : []
  return (
    <div class="problem" role="alert">
      <p>{words}</p>
      {issues.map((issue) => (
        <p key={issue}>{issue}</p>
      ))}
      {requestId !== null && (
        <p class="small">
          Request <code>{requestId}</code>
        </p>
      )}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** The faulty fields with the service's explanations. */
function issuesOf({ issues }: ApiError['details']): readonly string[] {
  if (!Array.isArray(issues)) return []
  return issues.map(({ path, message }) => `${path}: ${message}`)
}

interface Asked<T> {
  readonly data: T | undefined
  readonly error: unknown
  readonly refetch: () => unknown
}

/** Shows loading, then the answer; an error only if there is no earlier answer to show. */
export function Answered<T>(shown: {
  readonly query: Asked<T>
  /** Completes "Loading …". */
  readonly what: string
  readonly children: (data: T) => ComponentChildren
}) {
  const { data, error, refetch } = shown.query
  const retry = () => void refetch()
  if (data === undefined) {
    return error === null ? <Loading what={shown.what} /> : <Problem error={error} retry={retry} />
  }
  return (
    <>
      {error !== null && <Problem error={error} retry={retry} />}
      {shown.children(data)}
    </>
  )
}
