export interface Tokens {
  readonly accessToken: string
  /** Valid once; null if the provider issues none. */
  readonly refreshToken: string | null
  /** By this browser's clock. */
  readonly expiresAtMs: number
}

/** Tokens are refreshed this long before they expire, so that none expires under way. */
const REFRESH_BEFORE_MS = 60_000

interface RefreshPorts {
  /** @throws if no tokens can be obtained */
  readonly refresh: (refreshToken: string) => Promise<Tokens>
  /**
   * Whether tokens may be obtained later: the provider is unavailable, and has not ended the
   * session.
   */
  readonly isAway: (error: unknown) => boolean
  /** Called when no more tokens can be obtained. */
  readonly onEnded: () => void
  readonly nowMs: () => number
}

interface HeldTokens {
  hold(tokens: Tokens): void
  /** Also discards the result of a refresh under way. */
  drop(): void
  /**
   * Returns a token that is valid for a while.
   * @param refused a token that the service rejected
   * @throws Error if nobody is signed in
   */
  access(refused?: string): Promise<string>
}

/**
 * The tokens of the signed-in person, only in memory. A refresh token is valid once, so one refresh
 * runs at a time.
 */
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
