import type { Unanswered } from './wishes.js'

/** As long as the service remembers a key with its request; what is older would be carried out anew. */
const REMEMBERED_MS = 24 * 3_600_000
const KEPT_MAX = 20
const STORED_AS = 'countersign:unanswered'

interface Kept {
  readonly text: string
  readonly id: string
  readonly atMs: number
}

/**
 * What was sent and has no answer yet, for as long as the tab lives: whoever loads the page anew after
 * a time-out, and wishes the same again, is answered by the first. Terms alone, no secret.
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
      // Somebody else's text under this name, or a browser that keeps nothing.
      return []
    }
  }
  function keep(all: readonly Kept[]): void {
    try {
      if (all.length === 0) storage.removeItem(STORED_AS)
      else storage.setItem(STORED_AS, JSON.stringify(all.slice(-KEPT_MAX)))
    } catch {
      // Without a place to keep it, it is kept as long as the page is.
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

/** Of this tab. */
export const UNANSWERED: Unanswered = {
  idOf: (text) => ofTab().idOf(text),
  sent: (text, id) => ofTab().sent(text, id),
  answered: (text) => ofTab().answered(text),
}

/** What holds a secret is kept as long as its page is, and nowhere. */
export const NOWHERE: Unanswered = {
  idOf: () => null,
  sent: () => undefined,
  answered: () => undefined,
}

function ofTab(): Unanswered {
  return unansweredOf(sessionStorage, Date.now)
}
