import { sleep, type Timers } from '../clock/timers.js'
import { JournalUnavailable } from './journal.js'

/** Half a minute: an engine has chosen another leader by then. */
const TRIES_MAX = 30
const AGAIN_MS = 1_000

export interface AskOptions {
  readonly timers: Pick<Timers, 'now' | 'at'>
  /** As often as it asks at most; absent: for half a minute. */
  readonly triesMax?: number
  /** Ends it with the error that it met last. */
  readonly stopping?: AbortSignal
}

/**
 * Asks a journal what may be asked twice, again and again while it does not answer.
 * @param missed called before each time but the first
 * @throws JournalUnavailable once it has asked for long enough, and what `ask` throws besides
 */
export async function askUntilAvailable<T>(
  { timers, triesMax = TRIES_MAX, stopping }: AskOptions,
  ask: () => Promise<T>,
  missed?: (err: JournalUnavailable, tries: number) => void,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask()
    } catch (err) {
      const isOver = tries >= triesMax || stopping?.aborted === true
      if (!(err instanceof JournalUnavailable) || isOver) throw err
      missed?.(err, tries)
      await sleep(timers, AGAIN_MS)
    }
  }
}
