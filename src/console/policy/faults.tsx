import { ApiError } from '../answers.js'
import { Problem } from '../parts/states.js'
import { describePath, isObject } from './draft.js'

/** The faults that the service found, each with its place. */
export function Faults({ error }: { readonly error: unknown }) {
  const issues = issuesOf(error)
  if (issues.length === 0) return <Problem error={error} />
  return (
    <div class="problem" role="alert">
      <ul class="small">
        {issues.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <code>{describePath(path)}</code> {message}
          </li>
        ))}
      </ul>
    </div>
  )
}

function issuesOf(error: unknown): readonly { path: string; message: string }[] {
  const issues = error instanceof ApiError ? error.details.issues : null
  if (!Array.isArray(issues)) return []
  return issues.flatMap((one: unknown) =>
    isObject(one) ? [{ path: String(one.path), message: String(one.message) }] : [],
  )
}
