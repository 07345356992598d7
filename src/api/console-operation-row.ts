import type { z } from 'zod'
import type { Power } from '../domain/role.js'
import type { ErrorCode } from '../errors/catalogue.js'

/**
 * The console's routes: a user's own wallets, keys and webhooks, under a JWT of the identity
 * provider. Another user's things answer 404, as if they were not there.
 */
export interface ConsoleOperationRow {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  /**
   * What the person must be able to do in the account, by their role there; any of these is enough.
   * Spec silent: who makes a key has its secret, and who frees an address lets money go there, so
   * that to rotate a key and to change rules takes an owner; of breakers and caps, too, a raise and a
   * lowering are one call.
   */
  readonly needs: readonly [Power, ...Power[]]
  readonly title: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  readonly errors: readonly ErrorCode[]
  /**
   * Takes an API key in `X-Api-Key` besides the token. Spec silent on how the console sends: the
   * quorum signs only on the proof of a live API key, which the console's token is not.
   */
  readonly presentsKey?: true
  /** As how many requests it counts, where its work is many calls in one; absent: one. */
  readonly callsOf?: (input: never) => number
  /** Makes something, once for each Idempotency-Key (CONTRACT.md, "Creations"). */
  readonly isCreation?: true
}

/** What a row with `isCreation` may answer besides. */
export const CREATION_ERRORS = [
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
] as const satisfies readonly ErrorCode[]
