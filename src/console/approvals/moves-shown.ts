interface Asked {
  /** Wei. */
  readonly value: string
  readonly intent: object | null
  readonly decoded: {
    readonly moves: readonly { readonly token: string; readonly amount: string }[] | null
  }
}

export interface MovesShown {
  /** Smallest units; `native`, or a token's address. */
  readonly moves: readonly { readonly token: string; readonly amount: string }[]
  /** False: the bytes do not say what else leaves the wallet. */
  readonly isAll: boolean
}

/** What leaves the wallet by a call, as far as it is known: at least the coins it is sent with. */
export function movesShown({ value, intent, decoded: { moves } }: Asked): MovesShown {
  if (moves !== null) return { moves, isAll: true }
  // An intent is carried out by the service, with coins of its own.
  const isSent = value !== '0' && intent === null
  return { moves: isSent ? [{ token: 'native', amount: value }] : [], isAll: false }
}
