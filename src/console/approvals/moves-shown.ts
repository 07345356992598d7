/**
 * An amount of a token that leaves the wallet; symbol and decimals are null if the service does not
 * know them.
 */
export interface ShownMove {
  /** Address, or `native`. */
  readonly token: string
  /** Smallest units. */
  readonly amount: string
  readonly symbol: string | null
  readonly decimals: number | null
}

interface Asked {
  /** Wei. */
  readonly value: string
  readonly intent: object | null
  readonly decoded: {
    readonly moves: readonly ShownMove[] | null
  }
}

interface MovesShown {
  readonly moves: readonly ShownMove[]
  /** False if the calldata does not tell what else leaves the wallet. */
  readonly isAll: boolean
}

/** What leaves the wallet by a call, as far as known: at least the native coins that it sends. */
export function movesShown({ value, intent, decoded: { moves } }: Asked): MovesShown {
  if (moves !== null) return { moves, isAll: true }
  // The service executes an intent, with its own coins.
  const isSent = value !== '0' && intent === null
  return {
    moves: isSent ? [{ token: 'native', amount: value, symbol: null, decimals: null }] : [],
    isAll: false,
  }
}
