/** Something that is to be carried out, and once. */
export interface Wish<W> {
  /** Idempotency key: of these terms and no others. */
  readonly id: string
  readonly terms: W
}

export interface Wishes<W> {
  /** The same wish as before where it says the same. */
  saying(terms: W): Wish<W>
  /** It is on its way: what says the same is this one, in a page that is loaded anew, too. */
  sent(wish: Wish<W>): void
  /** Whoever says the same again wishes it once more. */
  carriedOut(wish: Wish<W>): void
}

/** Ids of wishes on their way, by what they say. */
export interface Unanswered {
  idOf(text: string): string | null
  sent(text: string, id: string): void
  answered(text: string): void
}

/** Wishes of one form, told apart by what they say, whoever or whatever has changed it. */
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
