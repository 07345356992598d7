import type { Alarm, Timers } from '../clock/timers.js'
import type { Journal } from '../journal/journal.js'
import type { QuorumReach } from '../service-custody/quorum-reach.js'

export interface DeposedOptions {
  readonly journal: Pick<Journal, 'look'>
  readonly owner: { readonly epoch: number; readonly cell: { readonly number: number } }
  readonly reach: () => Pick<QuorumReach, 'fenced'>
  /** Called once, where another owns the journal. */
  readonly deposed: (error: Error) => void
  readonly timers: Pick<Timers, 'now' | 'at' | 'elapsed'>
}

const LOOK_MS = 500
/** Whoever stood still for as long may have been taken for gone meanwhile. */
const STOOD_STILL_MS = 2_000

/**
 * An owner whose journal another node took while it stood still hears of it by its next append, and answers
 * reads until then from a store that follows nobody: with keys that were revoked meanwhile. So it asks the
 * journal whenever it was away for long, and whenever the identity provider says that a later start serves.
 * Of the identity provider's word alone it does not end: a copy of the home beside it says the same, and to
 * start anew would take its place in turn.
 * @returns ends that
 */
export function endWhenDeposed(options: DeposedOptions): () => void {
  const { journal, owner, reach, deposed, timers } = options
  let lastMs = timers.elapsed()
  let isInDoubt = false
  let isAsking = false
  let isOver = false
  let alarm: Alarm

  async function ask(): Promise<void> {
    isAsking = true
    isInDoubt = false
    try {
      const { epoch } = await journal.look(owner.cell.number)
      if (epoch > owner.epoch && !isOver) {
        isOver = true
        deposed(new Error(`the journal is owned in epoch ${epoch}, and was here in ${owner.epoch}`))
      }
    } catch {
      // It asks again: whoever cannot reach the journal writes nothing meanwhile.
      isInDoubt = true
    }
    isAsking = false
  }

  function look(): void {
    const nowMs = timers.elapsed()
    if (nowMs - lastMs > STOOD_STILL_MS) isInDoubt = true
    lastMs = nowMs
    if ((isInDoubt || reach().fenced) && !isAsking) void ask()
    if (!isOver) alarm = timers.at(timers.now() + LOOK_MS, look)
  }

  look()
  return () => {
    isOver = true
    alarm.cancel()
  }
}
