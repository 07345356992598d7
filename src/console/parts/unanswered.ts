import type { Unanswered } from './submissions.js'

/**
 * As long as the service remembers a key with its request; an older one would be carried out again.
 */
const REMEMBERED_MS = 24 * 3_600_000
const KEPT_MAX = 20
const STORED_AS = 'countersign:unanswered'

interface Kept {
  readonly text: string
  readonly id: string
  readonly atMs: number
}

/**
 * Requests that were sent but not answered, for as long as the tab lives. A person who reloads the
 * page after a time-out and repeats the request gets the answer to the first one. Holds only the
 * terms, no secret.
 */
export function unansweredOf(
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
  nowMs: () => number,
): Unanswered {
  function kept(): readonly Kept[] {
    try {
      const all = JSON.parse(storage.getItem(STORED_AS) ?? '[]') as readonly Kept[]
      return all.filter(({ atMs }) => atMs > nowMs() - REMEMBERED_MS)
    } catch {
      // The stored text is not ours, or the browser stores nothing.
      return []
    }
  }
  function keep(all: readonly Kept[]): void {
    try {
      if (all.length === 0) storage.removeItem(STORED_AS)
      else storage.setItem(STORED_AS, JSON.stringify(all.slice(-KEPT_MAX)))
    } catch {
      // If it cannot be stored, it is kept as long as the page.
    }
  }
  return {
    idOf: (text) => kept().find((one) => one.text === text)?.id ?? null,
    sent(text, id) {
      // The service counts from the first time.
      const first = kept().find((one) => one.text === text && one.id === id)
      const others = kept().filter((one) => one.text !== text)
      keep([...others, first ?? { text, id, atMs: nowMs() }])
    },
    answered(text) {
      keep(kept().filter((one) => one.text !== text))
    },
  }
}

/** The requests of this tab. */
export const UNANSWERED: Unanswered = {
  idOf: (text) => ofTab().idOf(text),
  sent: (text, id) => ofTab().sent(text, id),
  answered: (text) => ofTab().answered(text),
}

/** For requests with a secret, which are kept only as long as their page. */
export const NOWHERE: Unanswered = {
  idOf: () => null,
  sent: () => undefined,
  answered: () => undefined,
}

function ofTab(): Unanswered {
  return unansweredOf(sessionStorage, Date.now)
}
