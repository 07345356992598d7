import { sleep, type Timers } from '../clock/timers.js'
import { JournalUnavailable } from './journal.js'

/** Half a minute, in which an engine has elected another node. */
const TRIES_MAX = 30
const AGAIN_MS = 1_000

export interface AskOptions {
  readonly timers: Pick<Timers, 'now' | 'at'>
  /** The most attempts; defaults to those of half a minute. */
  readonly triesMax?: number
  /** Ends the attempts with the last error. */
  readonly stopping?: AbortSignal
}

/**
 * Repeats an idempotent request while the journal does not answer.
 * @param missed called before each attempt but the first
 * @throws JournalUnavailable after the last attempt; any other error of `ask`
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
