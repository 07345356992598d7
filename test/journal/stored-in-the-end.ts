import { setTimeout as sleep } from 'node:timers/promises'
import { type Journal, JournalUnavailable, type Place } from '../../src/journal/journal.js'

const AGAIN_MS = 20
const TRIES_MAX = 2_000

/**
 * Appends as an owner does: asks again while the outcome is unknown.
 * @returns how often it was unknown
 * @throws Error once it is fenced
 */
export async function storedInTheEnd(
  journal: Journal,
  at: Place,
  body: Uint8Array,
): Promise<number> {
  for (let unknown = 0; unknown < TRIES_MAX; unknown++) {
    try {
      const { kind } = await journal.append(at, body)
      if (kind === 'fenced') throw new Error('fenced')
      return unknown
    } catch (error) {
      if (!(error instanceof JournalUnavailable)) throw error
      await sleep(AGAIN_MS)
    }
  }
  throw new Error('the journal did not come back')
}
