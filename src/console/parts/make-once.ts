import { ApiError } from '../answers.js'
import type { Submissions } from './submissions.js'

/**
 * Codes after which this id cannot be used: it is too old, or something else was created with it.
 */
const UNUSABLE: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'IDEMPOTENCY_KEY_REUSED'])

/**
 * Creates something under the id of its request: if the same is requested again because no answer
 * came, the result is what was created, not a second one.
 */
export async function makeOnce<W, T>(
  submissions: Submissions<W>,
  terms: W,
  make: (terms: W, idempotencyKey: string) => Promise<T>,
): Promise<T> {
  const submission = submissions.for(terms)
  submissions.sent(submission)
  try {
    const made = await make(submission.terms, submission.id)
    submissions.done(submission)
    return made
  } catch (error) {
    if (error instanceof ApiError && UNUSABLE.has(error.code)) submissions.done(submission)
    throw error
  }
}
