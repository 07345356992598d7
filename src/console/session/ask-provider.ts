/** The message is for the person who signs in. */
export class SignInError extends Error {
  override readonly name: string = 'SignInError'
}

/** The person is not a member of the account, but may be of others. */
export class NoPlaceError extends SignInError {
  override readonly name = 'NoPlaceError'
  readonly accounts: readonly Place[]

  constructor(accounts: readonly Place[]) {
    super('You are not a member of this account, or no longer are.')
    this.accounts = accounts
  }
}

export interface Place {
  readonly account_id: string
  readonly role: string
}

/** The session was neither confirmed nor ended; it may continue when the provider is back. */
export class UnreachableError extends SignInError {
  override readonly name = 'UnreachableError'
}

const REQUEST_TIMEOUT_MS = 15_000
const TOO_MANY_STATUS = 429

/**
 * @param issuer named in messages
 * @throws UnreachableError if it does not answer, is overloaded or breaks off
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
