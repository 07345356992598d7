import { sleep, type Timers } from '../clock/timers.js'
import { type Journal, JournalUnavailable, type Place } from './journal.js'

/** Another node has acquired the journal. Decisions made here from then on have no effect. */
export class JournalFenced extends Error {
  override readonly name = 'JournalFenced'

  constructor(epoch: number) {
    super(`another service acquired the journal, with epoch ${epoch}`)
  }
}

export interface AppendContext {
  readonly journal: Pick<Journal, 'append'>
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: {
    warn(context: object, message: string): void
    info(context: object, message: string): void
  }
}

/** Pause between two attempts, in which the engine may elect another node. */
const AGAIN_MS = 100

/**
 * Appends an entry, and tries again while the outcome is unknown.
 * @throws JournalFenced; as `append` if the caller broke its rules
 */
export async function appendUntilKnown(
  { journal, timers, log }: AppendContext,
  at: Place,
  body: Uint8Array,
): Promise<void> {
  const { seq } = at
  for (let tries = 1; ; tries++) {
    try {
      const answer = await journal.append(at, body)
      if (answer.kind === 'fenced') throw new JournalFenced(answer.epoch)
      if (tries > 1) log.info({ seq, tries }, 'the journal answers again')
      return
    } catch (err) {
      if (!(err instanceof JournalUnavailable)) throw err
      if (tries === 1) log.warn({ err, seq }, 'the journal did not answer; trying again')
      await sleep(timers, AGAIN_MS)
    }
  }
}
