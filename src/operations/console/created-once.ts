import { createHash } from 'node:crypto'
import { invalidAt } from '../../api/parse.js'
import { hashRequest } from '../../api/parse-idempotency.js'
import type { UserId } from '../../domain/ids.js'
import { ENTROPY_BYTES, ulidBody } from '../../domain/ids.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { Answer, ConsoleContext } from '../context.js'
import type { OperationPorts } from '../ports.js'

/**
 * Creates something once, however often a person asks for it. The id comes from the person and
 * their Idempotency-Key, so a repeated request finds what the first one created, even after a crash
 * in between, and two concurrent requests create one.
 *
 * Spec silent: it requires keys only for calls that move value. Here a key is a UUID of version 7
 * (RFC 9562, section 5.7). Ids are ordered by time, so an id that comes from a key needs a time
 * that is the same in every repetition. Such a UUID contains one: 48 bits of milliseconds, which
 * are the id's first ten characters, and below 8 in the first. A key whose time is more than a day
 * from now is refused, so earlier keys need not be remembered.
 */
export interface Creation<Value> {
  readonly operation: 'create_wallet' | 'create_key' | 'create_webhook'
  readonly prefix: string
  /** The user's newest one below `cursor`, with the answer to the request that created it. */
  readonly newestBelow: (userId: UserId, cursor: string) => MadeBefore<Value> | null
  /**
   * Whether this id exists, for any user. With enough hashing a caller could find a request whose
   * id is that of another user's record, and must neither see nor replace it.
   */
  readonly isTaken: (id: string) => boolean
}

interface MadeBefore<Value> {
  readonly id: string
  readonly value: Value
}

type Handler<Input, Output> = (
  context: ConsoleContext,
  input: Input,
) => Answer<Output> | Promise<Answer<Output>>

const UUID_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i
const TIME_DIGITS = 12
const KEY_RULE = 'must be a UUID of version 7, by whose time the id of what is made is ordered'
const TIME_RULE = 'must be of a time within a day of now'
const DAY_MS = 86_400_000

/** Half of an id's random part identifies the person's key, the other half the request. */
const HALF_BYTES = ENTROPY_BYTES / 2
/** Ten characters of time and eight for each half. */
const NAMED_CHARS = 18
/** Sorts after every id with the same beginning. */
const LAST = '~'

/**
 * The id for what a request creates; null if it has no key, and then any id will do.
 * @param input the request without its proof
 */
export function creationId(
  { operation, prefix }: Pick<Creation<unknown>, 'operation' | 'prefix'>,
  { userId, idempotencyKey }: Pick<ConsoleContext, 'userId' | 'idempotencyKey'>,
  input: object,
): string | null {
  if (idempotencyKey === undefined) return null
  const key = idempotencyKey.toLowerCase()
  const named = createHash('sha256')
    .update(JSON.stringify([operation, userId, key]))
    .digest()
  const asked = Buffer.from(hashRequest(operation, input), 'hex')
  const random = Buffer.concat([named.subarray(0, HALF_BYTES), asked.subarray(0, HALF_BYTES)])
  return prefix + ulidBody(timeOfKey(key), random)
}

/**
 * The same handler, which returns what an earlier request with the same Idempotency-Key created.
 */
export function createdOnce<Input extends object, Output>(
  { nowMs }: Pick<OperationPorts, 'nowMs'>,
  creation: Creation<Output>,
  handler: Handler<Input, Output>,
): Handler<Input, Output> {
  /** Has one entry per request under way. */
  const running = new Set<string>()

  return async (context, input) => {
    const id = creationId(creation, context, withoutProof(input))
    if (id === null) return handler(context, input)
    const usable = checkedKey(context.idempotencyKey ?? '', nowMs())
    if (!usable.ok) return usable
    const named = id.slice(0, creation.prefix.length + NAMED_CHARS)
    if (running.has(named)) return refuse(fault('IDEMPOTENCY_IN_PROGRESS'))
    const made = creation.newestBelow(context.userId, named + LAST)
    if (made?.id === id) return { ok: true, status: 201, replayed: true, value: made.value }
    if (made?.id.startsWith(named) === true || creation.isTaken(id)) {
      return refuse(fault('IDEMPOTENCY_KEY_REUSED'))
    }
    running.add(named)
    try {
      return await handler(context, input)
    } finally {
      running.delete(named)
    }
  }
}

/**
 * The proof belongs to one request and comes only with its repetition, so the id does not depend on
 * it.
 */
function withoutProof<Input extends object>(input: Input): Omit<Input, 'authorization'> {
  const { authorization: _, ...asked } = input as Input & { readonly authorization?: unknown }
  return asked
}

function checkedKey(key: string, nowMs: number): Result<null> {
  const rule = !UUID_7.test(key)
    ? KEY_RULE
    : Math.abs(timeOfKey(key) - nowMs) > DAY_MS
      ? TIME_RULE
      : null
  return rule === null ? ok(null) : refuse(invalidAt('Idempotency-Key', rule))
}

/** Milliseconds since the epoch; 0 if it is not such a key. */
function timeOfKey(key: string): number {
  if (!UUID_7.test(key)) return 0
  return Number.parseInt(key.replace('-', '').slice(0, TIME_DIGITS), 16)
}
