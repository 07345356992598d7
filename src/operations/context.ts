import type {
  ConsoleInput,
  ConsoleOperationName,
  ConsoleOutput,
} from '../api/console-operations.js'
import type { OperationInput, OperationName, OperationOutput } from '../api/operations.js'
import type { AuthenticatedKey } from '../auth/api-key.js'
import type { ApiKey } from '../domain/api-key.js'
import type { UserId } from '../domain/ids.js'
import type { Role } from '../domain/role.js'
import type { Fault } from '../errors/fault.js'

/** What an authenticated agent request carries into its operation, over either transport. */
export interface AgentContext {
  readonly requestId: string
  readonly key: ApiKey
  /**
   * Proof key of the live API key (32 bytes, derived from the presented secret). Only the signing
   * path may read it; this service never logs or stores it.
   */
  readonly proofKey: Uint8Array
  readonly idempotency: Idempotency | null
  /**
   * True for calls by MCP. Spec silent on keys whose `duplicate_guard` is off, the default: a model
   * that calls a tool twice seldom means to pay twice, so the guard applies to every such call. A
   * caller that means to repeat sends another `idempotency_key`.
   */
  readonly guardsDuplicates: boolean
}

interface Idempotency {
  /** 1 to 255 visible ASCII characters, as the caller sent it. */
  readonly key: string
  /** Hex SHA-256 of the operation's name and canonical input. */
  readonly bodyHash: string
}

export interface ConsoleContext {
  readonly requestId: string
  /** The account. */
  readonly userId: UserId
  /** The person who is signed in; equal to the account for their own. */
  readonly personId: UserId
  /** The person's role in the account. */
  readonly role: Role
  readonly email: string | null
  /** The verified token; the identity provider checks it again for grants. */
  readonly token: string
  /** The API key sent besides the token, if the operation takes one. */
  readonly presentedKey: AuthenticatedKey | null
  /** 1 to 255 visible ASCII characters, if the operation takes a key and one was sent. */
  readonly idempotencyKey?: string
}

/** The answer of an operation; mapped to the wire once for REST and once for MCP. */
export type Answer<T> =
  | {
      readonly ok: true
      readonly value: T
      /** JSON of `value`, if it is cached; `value` is then parsed from it on demand. */
      readonly json?: string
      /** Defaults to 200. */
      readonly status?: 200 | 201 | 202
      /** Set if this repeats the first answer. */
      readonly replayed?: true
      /**
       * Time from the decision about a send until both keys had signed, which is work of this host
       * only.
       */
      readonly signingMs?: number
    }
  | { readonly ok: false; readonly fault: Fault }

export type AgentHandlers = {
  readonly [N in OperationName]: (
    context: AgentContext,
    input: OperationInput<N>,
  ) => Answer<OperationOutput<N>> | Promise<Answer<OperationOutput<N>>>
}

export type ConsoleHandlers = {
  readonly [N in ConsoleOperationName]: (
    context: ConsoleContext,
    input: ConsoleInput<N>,
  ) => Answer<ConsoleOutput<N>> | Promise<Answer<ConsoleOutput<N>>>
}
