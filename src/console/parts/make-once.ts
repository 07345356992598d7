import { ApiError } from '../answers.js'
import type { Wishes } from './wishes.js'

/**
 * Codes after which this id cannot be used: it is too old, or something else was created with it.
 */
const UNUSABLE: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'IDEMPOTENCY_KEY_REUSED'])

/**
 * Creates something under the id of its request: if the same is requested again because no answer
 * came, the result is what was created, not a second one.
 */
export async function makeOnce<W, T>(
  wishes: Wishes<W>,
  terms: W,
  make: (terms: W, idempotencyKey: string) => Promise<T>,
): Promise<T> {
  const wish = wishes.saying(terms)
  wishes.sent(wish)
  try {
    const made = await make(wish.terms, wish.id)
    wishes.carriedOut(wish)
    return made
  } catch (error) {
    if (error instanceof ApiError && UNUSABLE.has(error.code)) wishes.carriedOut(wish)
    throw error
  }
}
