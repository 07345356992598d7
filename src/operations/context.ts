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

/** What an authenticated agent request carries into its operation, whatever the transport. */
export interface AgentContext {
  readonly requestId: string
  readonly key: ApiKey
  /**
   * Key of the proof of the live API key (32 bytes, derived from the presented secret). Only
   * the signing path may read it; it is never logged or stored by this service.
   */
  readonly proofKey: Uint8Array
  readonly idempotency: Idempotency | null
}

export interface Idempotency {
  /** 1 to 255 visible ASCII characters, as the caller sent it. */
  readonly key: string
  /** Hex SHA-256 of the operation's name and canonical input. */
  readonly bodyHash: string
}

export interface ConsoleContext {
  readonly requestId: string
  /** The account. */
  readonly userId: UserId
  /** Who is signed in; of their own account the same. */
  readonly personId: UserId
  /** What the person is in the account. */
  readonly role: Role
  readonly email: string | null
  /** The verified token; the identity provider checks it again for grants. */
  readonly token: string
  /** The API key besides the token, where the operation takes one and one was sent. */
  readonly presentedKey: AuthenticatedKey | null
  /** 1 to 255 visible ASCII characters, where the operation takes one and one was sent. */
  readonly idempotencyKey?: string
}

/** What an operation answers; mapped to the wire once for REST and once for MCP. */
export type Answer<T> =
  | {
      readonly ok: true
      readonly value: T
      /** JSON of `value`, where it is at hand; `value` is then made of it when it is asked for. */
      readonly json?: string
      /** 200 unless said otherwise. */
      readonly status?: 200 | 201 | 202
      /** Set when the answer is the first one again. */
      readonly replayed?: true
      /** From the decision about a send until both keys had signed: work of this host alone. */
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
