/** Something that is to be carried out, and once. */
export interface Wish<W> {
  /** Idempotency key: of these terms and no others. */
  readonly id: string
  readonly terms: W
}

export interface Wishes<W> {
  /** The same wish as before where it says the same. */
  saying(terms: W): Wish<W>
  /** Whoever says the same again wishes it once more. */
  carriedOut(): void
}

/** Wishes of one form, told apart by what they say, whoever or whatever has changed it. */
export function wishesOf<W>(newId: () => string): Wishes<W> {
  let current: { readonly text: string; readonly wish: Wish<W> } | null = null
  return {
    saying(terms) {
      const text = JSON.stringify(terms)
      if (current?.text !== text) current = { text, wish: { id: newId(), terms } }
      return current.wish
    },
    carriedOut() {
      current = null
    },
  }
}
