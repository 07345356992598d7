import { ApiError } from '../answers.js'
import type { Wishes } from './wishes.js'

/** Nothing is made under this id any more: it is too old, or something else was made under it. */
const UNUSABLE: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'IDEMPOTENCY_KEY_REUSED'])

/**
 * Has something made under the id of its wish: whoever asks for the same again, because no answer
 * came, gets what was made, and not a second one.
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
