import { GRANTED_FIELDS, type GrantTerms } from '../../domain/grant-terms.js'
import { POLICY_TEXT_BYTES_MAX } from '../../policy/bounds.js'
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
import { POLICY_CODECS, type PolicyCodec } from '../../quorum-protocol/policy-codecs.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256, TAG, tagged } from '../../quorum-protocol/tagged.js'

/**
 * A grant after a change, in canonical bytes: the user's authorizer signs it, both domains verify
 * the proof against it, and the evidence holds it. The version makes each statement valid for one
 * change only, because a grant never has the same version twice. Its terms are the rows of
 * `src/domain/key-policy.ts`.
 */
export interface GrantStatement extends GrantTerms {
  /** 16 bytes each. */
  readonly keyId: Uint8Array
  readonly grantId: Uint8Array
  /** The grant's version once this change is in force. */
  readonly version: number
  readonly walletId: Uint8Array
  /** 32 bytes: SHA-256 of the user id. */
  readonly ownerHash: Uint8Array
  readonly revoked: boolean
  /** The key that this one replaces; null for a key of its own. */
  readonly rotatedFrom: Uint8Array | null
  /** The grant of the key that made this one, which bounds it; null when the user made it. */
  readonly parentId: Uint8Array | null
  /** 32 bytes: SHA-256 of the key that proves the API secret; null when it does not change. */
  readonly proofKeyDigest: Uint8Array | null
  /** When a proof over it expires, in ms since the epoch; 0 when none is needed. */
  readonly confirmBeforeMs: number
}

/** A policy, and some 400 bytes for the other fields with every chain. */
export const STATEMENT_BYTES_MAX = POLICY_TEXT_BYTES_MAX + 1_024

/** How long a person may take to confirm a grant. */
export const CONFIRMATION_LIFE_MS = 10 * 60_000

/** Precedes the digit of the form. A statement uses the lowest form that has all its fields. */
const MAGIC = 'AWG'
/** The form that added keys made by keys. */
const PARENT_FORM = 3
const FORM_MAX = Math.max(...GRANTED_FIELDS.map(({ grantForm }) => grantForm ?? 0))

type Part = keyof GrantStatement
type PartCodec = Pick<PolicyCodec, 'write' | 'read'>

const CODECS: Readonly<Record<Part, PartCodec>> = {
  ...POLICY_CODECS,
  keyId: bytesOf(16),
  grantId: bytesOf(16),
  version: { write: u32, read: (reader) => reader.u32() },
  walletId: bytesOf(16),
  ownerHash: bytesOf(32),
  // No key expires at the epoch, so zero can mean never.
  expiresAtMs: {
    write: (at: number | null) => u64(at ?? 0),
    read: (reader) => reader.u64() || null,
  },
  revoked: { write: (revoked) => u8(revoked ? 1 : 0), read: readFlag },
  rotatedFrom: bytesOrZeros(16),
  parentId: bytesOrZeros(16),
  proofKeyDigest: bytesOrZeros(32),
  confirmBeforeMs: { write: u64, read: (reader) => reader.u64() },
}

const FIRST_FORM: readonly Part[] = [
  'keyId',
  'grantId',
  'version',
  'walletId',
  'ownerHash',
  'permission',
  'expiresAtMs',
  'revoked',
  'dailyLimitMicros',
  'monthlyLimitMicros',
  'unpricedAssets',
  'rotatedFrom',
  'proofKeyDigest',
  'confirmBeforeMs',
  'allowedChains',
]
interface LaterPart {
  readonly name: Part
  readonly form: number
  readonly initial: unknown
  readonly unsaid: Uint8Array
}

/** The fields of later forms in the order of their rows, then the parts that are not terms. */
const LATER: readonly LaterPart[] = [
  ...GRANTED_FIELDS.flatMap(({ name, grantForm, initial }): LaterPart[] =>
    grantForm !== null && grantForm > 1 ? [laterPart(name, grantForm, initial)] : [],
  ),
  laterPart('parentId', PARENT_FORM, null),
]

function laterPart(name: Part, form: number, initial: unknown): LaterPart {
  return { name, form, initial, unsaid: CODECS[name].write(initial) }
}

/** @param grant its terms in canonical form */
export function encodeGrantStatement(grant: GrantStatement): Buffer {
  const form = leastForm(grant)
  const later = LATER.filter((field) => field.form <= form).map(({ name }) => name)
  const written = [...FIRST_FORM, ...later].map((part) => CODECS[part].write(grant[part]))
  return concat(Buffer.from(`${MAGIC}${form}`, 'latin1'), ...written)
}

/** A field with its initial value needs no form that contains the field. */
function leastForm(grant: GrantStatement): number {
  let least = 1
  for (const { name, form, unsaid } of LATER) {
    if (!sameBytes(CODECS[name].write(grant[name]), unsaid)) least = Math.max(least, form)
  }
  return least
}

/**
 * Reads a statement of any form from the front of `bytes`, because the evidence keeps all forms.
 * @returns the statement, its own bytes, and what follows it
 * @throws Refusal MALFORMED
 */
export function readGrantStatement(bytes: Uint8Array): {
  readonly statement: GrantStatement
  readonly encoded: Uint8Array
  readonly rest: Uint8Array
} {
  const reader = new ByteReader(bytes)
  const form = formOf(reader.take(4))
  const parts = FIRST_FORM.map((part) => [part, CODECS[part].read(reader)])
  const later = LATER.map(({ name, form: from, initial }) => [
    name,
    from <= form ? CODECS[name].read(reader) : initial,
  ])
  const rest = reader.rest()
  const statement = Object.fromEntries([...parts, ...later]) as GrantStatement
  if (leastForm(statement) !== form) throw new Refusal('MALFORMED', 'grant statement')
  return {
    statement,
    encoded: bytes.subarray(0, bytes.length - rest.length),
    rest,
  }
}

function formOf(head: Uint8Array): number {
  const text = viewOf(head).toString('latin1')
  const form = text.startsWith(MAGIC) ? Number(text.slice(MAGIC.length)) : 0
  if (!(form >= 1 && form <= FORM_MAX)) throw new Refusal('MALFORMED', 'no grant statement')
  return form
}

/** Returns what a P-256 authorizer signs; a passkey's challenge is its SHA-256. */
export function grantMessage(encoded: Uint8Array): Buffer {
  return tagged(TAG.grantChange, encoded)
}

/** 32 bytes. */
export function grantChallenge(encoded: Uint8Array): Buffer {
  return sha256(grantMessage(encoded))
}

function bytesOf(length: number): PartCodec {
  return { write: (bytes: Uint8Array) => bytes, read: (reader) => reader.take(length) }
}

/** Zeros stand for null: no id and no digest is zero. */
function bytesOrZeros(length: number): PartCodec {
  return {
    write: (bytes: Uint8Array | null) => bytes ?? Buffer.alloc(length),
    read(reader) {
      const bytes = reader.take(length)
      return isZero(bytes) ? null : viewOf(bytes)
    },
  }
}

function readFlag(reader: ByteReader): boolean {
  const flag = reader.u8()
  if (flag > 1) throw new Refusal('MALFORMED', 'grant statement')
  return flag === 1
}
