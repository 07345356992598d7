/** The message is for the person who signs in. */
export class SignInError extends Error {
  override readonly name: string = 'SignInError'
}

/** Of an account that the person has no place in; they may have one in others. */
export class NoPlaceError extends SignInError {
  override readonly name = 'NoPlaceError'
  readonly accounts: readonly Place[]

  constructor(accounts: readonly Place[]) {
    super('You have no place in this account, or none any more.')
    this.accounts = accounts
  }
}

export interface Place {
  readonly account_id: string
  readonly role: string
}

/** Nothing was said about the session: it may go on when the provider is back. */
export class UnreachableError extends SignInError {
  override readonly name = 'UnreachableError'
}

const REQUEST_TIMEOUT_MS = 15_000
const TOO_MANY_STATUS = 429

/**
 * @param issuer as messages name it
 * @throws UnreachableError when it does not answer, is overloaded or breaks off
 */
export async function askProvider(
  issuer: string,
  url: string,
  init: RequestInit = {},
): Promise<{ ok: boolean; body: Readonly<Record<string, unknown>> }> {
  const isAway = (cause?: unknown) =>
    new UnreachableError(`The identity provider at ${issuer} does not answer.`, { cause })
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
  try {
    const response = await fetch(url, { ...init, signal, credentials: 'omit' })
    if (response.status >= 500 || response.status === TOO_MANY_STATUS) throw isAway()
    const body: unknown = await response.json()
    return {
      ok: response.ok,
      body: typeof body === 'object' && body !== null ? { ...body } : {},
    }
  } catch (error) {
    throw error instanceof UnreachableError ? error : isAway(error)
  }
}
