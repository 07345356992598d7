import type { z } from 'zod'
import type { Power } from '../domain/role.js'
import type { ErrorCode } from '../errors/catalogue.js'

/**
 * The console's routes: a user's own wallets, keys and webhooks, under a JWT of the identity
 * provider. Another user's records are answered with 404, as if they did not exist.
 */
export interface ConsoleOperationRow {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /**
   * The powers, any of which is enough, that the person's role in the account must include. Spec
   * silent: a person who makes a key has its secret, and one who allows an address lets money go
   * there, so rotating a key and changing rules require an owner. Raising and lowering breakers or
   * caps is one call, so they do too.
   */
  readonly needs: readonly [Power, ...Power[]]
  readonly title: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  readonly errors: readonly ErrorCode[]
  /**
   * Takes an API key in `X-Api-Key` besides the token. Spec silent about how the console sends: the
   * quorum signs only on the proof of a live API key, which the console's token is not.
   */
  readonly presentsKey?: true
  /** The number of requests it counts as, if it is many calls in one; defaults to one. */
  readonly callsOf?: (input: never) => number
  /** Creates something, once for each Idempotency-Key (CONTRACT.md, "Creations"). */
  readonly isCreation?: true
}

/** Further errors of a row with `isCreation`. */
export const CREATION_ERRORS = [
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
] as const satisfies readonly ErrorCode[]
