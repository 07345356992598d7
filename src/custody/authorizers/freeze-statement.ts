import type { FreezeScope } from '../../domain/freeze.js'
import { ID_PREFIX, ulidOfBytes } from '../../domain/ids.js'
import {
  ByteReader,
  concat,
  isZero,
  sameBytes,
  u8,
  u32,
  u64,
  viewOf,
} from '../../quorum-protocol/bytes.js'
import { FREEZE_SCOPES, freezeScopeOf } from '../../quorum-protocol/freeze-scopes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { TAG, tagged } from '../../quorum-protocol/tagged.js'

/**
 * A change of a freeze at the identity provider, in canonical bytes: the user's authorizer signs it
 * to lift the freeze, and both domains' evidence holds it. The sequence makes each statement valid
 * for one change only.
 */
export interface FreezeStatement extends FreezeSubject {
  readonly action: 'freeze' | 'unfreeze'
  /** 32 bytes: SHA-256 of the user id. */
  readonly ownerHash: Uint8Array
  /** Counts this subject's changes at the identity provider. */
  readonly sequence: number
  /** When a proof over it expires, in ms since the epoch; 0 for a freeze, which needs none. */
  readonly confirmBeforeMs: number
}

export interface FreezeSubject {
  readonly scope: FreezeScope
  /**
   * 32 bytes: the owner's hash, or the 16 bytes of a wallet's or a grant's id followed by zeros. A
   * grant stands for a key's whole lineage.
   */
  readonly subject: Uint8Array
}

const MAGIC = 'AWF1'
const ACTIONS = { freeze: 1, unfreeze: 2 } as const
const SUBJECT_BYTES = 32
const ID_BYTES = 16

export function encodeFreezeStatement(statement: FreezeStatement): Buffer {
  return concat(
    Buffer.from(MAGIC, 'latin1'),
    u8(ACTIONS[statement.action]),
    u8(FREEZE_SCOPES[statement.scope]),
    statement.subject,
    statement.ownerHash,
    u32(statement.sequence),
    u64(statement.confirmBeforeMs),
  )
}

/**
 * @returns the statement at the front of `bytes`, its own bytes, and what follows it
 * @throws Refusal MALFORMED
 */
export function readFreezeStatement(bytes: Uint8Array): {
  readonly statement: FreezeStatement
  readonly encoded: Uint8Array
  readonly rest: Uint8Array
} {
  const reader = new ByteReader(bytes)
  if (!isFreezeStatement(bytes)) throw malformed()
  reader.take(MAGIC.length)
  const action = nameOf(ACTIONS, reader.u8())
  const scope = freezeScopeOf(reader.u8())
  if (action === null) throw malformed()
  const subject = reader.take(SUBJECT_BYTES)
  const ownerHash = reader.take(32)
  const sequence = reader.u32()
  const confirmBeforeMs = reader.u64()
  const rest = reader.rest()
  if (!isSubject(scope, subject, ownerHash)) throw malformed()
  return {
    statement: { action, scope, subject, ownerHash, sequence, confirmBeforeMs },
    encoded: bytes.subarray(0, bytes.length - rest.length),
    rest,
  }
}

export function isFreezeStatement(bytes: Uint8Array): boolean {
  return viewOf(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC
}

/** @param id 16 bytes of a wallet's or a grant's id */
export function subjectOfId(id: Uint8Array): Buffer {
  return concat(id, Buffer.alloc(SUBJECT_BYTES - ID_BYTES))
}

/** Returns the 16-byte id of a subject that is not a user. */
export function idOfSubject(subject: Uint8Array): Uint8Array {
  return subject.subarray(0, ID_BYTES)
}

/** Returns what a P-256 authorizer signs; a passkey's challenge is its SHA-256. */
export function freezeMessage(encoded: Uint8Array): Buffer {
  return tagged(TAG.freezeChange, encoded)
}

/** Describes the change from the bytes that are signed: name and value of each line. */
export function describeFreeze(statement: FreezeStatement): [name: string, value: string][] {
  const { scope, subject } = statement
  const what =
    scope === 'user'
      ? 'everything of yours'
      : scope === 'wallet'
        ? `wallet ${ID_PREFIX.subWallet}${ulidOfBytes(idOfSubject(subject))}`
        : `API key ${ID_PREFIX.key}${ulidOfBytes(idOfSubject(subject))} and its successors`
  return [['Lift the freeze of', what]]
}

function isSubject(scope: FreezeScope, subject: Uint8Array, ownerHash: Uint8Array): boolean {
  return scope === 'user' ? sameBytes(subject, ownerHash) : isZero(subject.subarray(ID_BYTES))
}

function nameOf<Name extends string>(
  numbers: Readonly<Record<Name, number>>,
  number: number,
): Name | null {
  for (const name of Object.keys(numbers) as Name[]) if (numbers[name] === number) return name
  return null
}

function malformed(): Refusal {
  return new Refusal('MALFORMED', 'freeze statement')
}
