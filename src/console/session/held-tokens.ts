export interface Tokens {
  readonly accessToken: string
  /** Good once; null where the provider gives none. */
  readonly refreshToken: string | null
  /** By this browser's clock. */
  readonly expiresAtMs: number
}

/** Before the end of a token's life, so that none ends under way. */
const REFRESH_BEFORE_MS = 60_000

export interface RefreshPorts {
  /** @throws when there are none to be had */
  readonly refresh: (refreshToken: string) => Promise<Tokens>
  /** It may be had later: the provider is away, and has said nothing about the session. */
  readonly isAway: (error: unknown) => boolean
  /** There are none to be had any more. */
  readonly onEnded: () => void
  readonly nowMs: () => number
}

export interface HeldTokens {
  hold(tokens: Tokens): void
  /** What comes back of a refresh that is under way is not kept either. */
  drop(): void
  /**
   * A token that is good for a while.
   * @param refused a token that the service would not take
   * @throws Error when nobody is signed in any more
   */
  access(refused?: string): Promise<string>
}

/** Tokens of whoever is signed in, in memory alone. A refresh token is good once: one refresh at a time. */
export function heldTokens(ports: RefreshPorts): HeldTokens {
  let held: Tokens | null = null
  let refreshing: Promise<string> | null = null

  async function refresh(old: Tokens): Promise<string> {
    try {
      if (old.refreshToken === null) throw new Error('Your sign-in has ended.')
      const tokens = await ports.refresh(old.refreshToken)
      if (held !== old) throw new Error(SIGNED_OUT)
      held = tokens
      return tokens.accessToken
    } catch (error) {
      if (held === old && !ports.isAway(error)) {
        held = null
        ports.onEnded()
      }
      throw error
    }
  }

  return {
    hold: (tokens) => {
      held = tokens
    },
    drop: () => {
      held = null
    },
    access: async (refused) => {
      if (held === null) throw new Error(SIGNED_OUT)
      const isFresh = held.expiresAtMs - ports.nowMs() > REFRESH_BEFORE_MS
      if (isFresh && held.accessToken !== refused) return held.accessToken
      refreshing ??= refresh(held).finally(() => {
        refreshing = null
      })
      return refreshing
    },
  }
}

const SIGNED_OUT = 'You are signed out.'
