/** A request that must be carried out once. */
export interface Wish<W> {
  /** Idempotency key for these terms only. */
  readonly id: string
  readonly terms: W
}

export interface Wishes<W> {
  /** The same request as before if the terms are equal. */
  saying(terms: W): Wish<W>
  /**
   * Call it when the request is sent: equal terms then mean this request, even after the page is
   * reloaded.
   */
  sent(wish: Wish<W>): void
  /** Call it when the request was carried out: equal terms then mean a new request. */
  carriedOut(wish: Wish<W>): void
}

/** Ids of requests under way, by their terms. */
export interface Unanswered {
  idOf(text: string): string | null
  sent(text: string, id: string): void
  answered(text: string): void
}

/** The requests of one form, distinguished by their terms. */
export function wishesOf<W>(newId: () => string, unanswered: Unanswered): Wishes<W> {
  let current: { readonly text: string; readonly wish: Wish<W> } | null = null
  return {
    saying(terms) {
      const text = JSON.stringify(terms)
      if (current?.text !== text) {
        current = { text, wish: { id: unanswered.idOf(text) ?? newId(), terms } }
      }
      return current.wish
    },
    sent({ id, terms }) {
      unanswered.sent(JSON.stringify(terms), id)
    },
    carriedOut({ terms }) {
      unanswered.answered(JSON.stringify(terms))
      current = null
    },
  }
}
