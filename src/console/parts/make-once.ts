import { ApiError } from '../answers.js'
import type { Wishes } from './wishes.js'

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
    // Nothing is made of it; its id may be too old to be asked with once more.
    if (error instanceof ApiError && error.code === 'INVALID_REQUEST') wishes.carriedOut(wish)
    throw error
  }
}
