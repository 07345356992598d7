import { isoTime } from '../../domain/iso-time.js'
import type { MemberAction } from '../../domain/members.js'
import { MISLEADING } from '../../domain/printable.js'
import type { Role } from '../../domain/role.js'
import { ByteReader, concat, u8, u32, u64, viewOf } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sized, takeSized } from '../../quorum-protocol/sized.js'
import { sha256, TAG, tagged } from '../../quorum-protocol/tagged.js'

/**
 * A change of a person's place in an account, in canonical bytes: an owner's authorizer signs it to
 * invite a person or raise a role, and the evidence holds it. The sequence makes each statement
 * valid for one change only.
 *
 * | action | by | proof |
 * |---|---|---|
 * | invite | an owner | by an owner's authorizer |
 * | accept | the person | by the person's own authorizer |
 * | change | an owner | by an owner's authorizer, if the new role adds a power |
 * | remove | an owner, or the person | none |
 */
export interface MemberStatement {
  readonly action: MemberAction
  /** The new role; for a removal, the role that ends. */
  readonly role: Role
  readonly accountId: string
  /** Counts the changes of this account's members. */
  readonly sequence: number
  readonly personId: string
  /** The person's address, as the owner saw it. */
  readonly email: string
  /** The person who requested the change. */
  readonly byId: string
  /** The deadline of an invitation, in ms since the epoch; else 0. */
  readonly acceptBeforeMs: number
  /** When a proof over it expires, in ms since the epoch; 0 when none is needed. */
  readonly confirmBeforeMs: number
}

const MAGIC = 'AWM1'
const ACTIONS = { invite: 1, accept: 2, change: 3, remove: 4 } as const
const ROLE_NUMBERS: Readonly<Record<Role, number>> = {
  owner: 1,
  approver: 2,
  operator: 3,
  viewer: 4,
}
/** The bound of a token's subject. */
const ID_CHARS_MAX = 255
/** RFC 5321, section 4.5.3.1.3, less the angle brackets. */
const EMAIL_CHARS_MAX = 254
/** People read what they sign, so no part of it may look like something else. */
const UNSHOWABLE = new RegExp(`[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}${MISLEADING}]`, 'u')

/** @throws Refusal MALFORMED when a name could look like another one, or is too long */
export function encodeMemberStatement(statement: MemberStatement): Buffer {
  const { accountId, personId, email, byId } = statement
  for (const id of [accountId, personId, byId]) requireText(id, ID_CHARS_MAX)
  requireText(email, EMAIL_CHARS_MAX)
  return concat(
    Buffer.from(MAGIC, 'latin1'),
    u8(ACTIONS[statement.action]),
    u8(ROLE_NUMBERS[statement.role]),
    u32(statement.sequence),
    ...[accountId, personId, email, byId].flatMap((text) => sized(Buffer.from(text, 'utf8'))),
    u64(statement.acceptBeforeMs),
    u64(statement.confirmBeforeMs),
  )
}

/**
 * @returns the statement at the front of `bytes`, its own bytes, and what follows it
 * @throws Refusal MALFORMED
 */
export function readMemberStatement(bytes: Uint8Array): {
  readonly statement: MemberStatement
  readonly encoded: Uint8Array
  readonly rest: Uint8Array
} {
  if (!isMemberStatement(bytes)) throw malformed()
  const reader = new ByteReader(bytes)
  reader.take(MAGIC.length)
  const action = nameOf(ACTIONS, reader.u8())
  const role = nameOf(ROLE_NUMBERS, reader.u8())
  const sequence = reader.u32()
  const accountId = takeText(reader, ID_CHARS_MAX)
  const personId = takeText(reader, ID_CHARS_MAX)
  const email = takeText(reader, EMAIL_CHARS_MAX)
  const byId = takeText(reader, ID_CHARS_MAX)
  const acceptBeforeMs = reader.u64()
  const confirmBeforeMs = reader.u64()
  const rest = reader.rest()
  return {
    statement: {
      ...{ action, role, accountId, sequence, personId, email, byId },
      ...{ acceptBeforeMs, confirmBeforeMs },
    },
    encoded: bytes.subarray(0, bytes.length - rest.length),
    rest,
  }
}

export function isMemberStatement(bytes: Uint8Array): boolean {
  return viewOf(bytes.subarray(0, MAGIC.length)).toString('latin1') === MAGIC
}

/** Returns what a P-256 authorizer signs; a passkey's challenge is its SHA-256. */
export function memberMessage(encoded: Uint8Array): Buffer {
  return tagged(TAG.memberChange, encoded)
}

/**
 * Returns whose authorizers sign it (32 bytes): the account's owners', or for an acceptance the
 * person's own.
 */
export function signedForOf({ action, accountId, personId }: MemberStatement): Buffer {
  return sha256(Buffer.from(action === 'accept' ? personId : accountId))
}

const MAY: Readonly<Record<Role, string>> = {
  owner: 'everything: keys, approvals, members, and what you may yourself',
  approver: 'see everything, and approve or decline calls',
  operator: 'see everything, freeze, revoke keys, cancel, and run webhooks',
  viewer: 'see everything',
}

const TITLES = { invite: 'Invite', accept: 'Join as', change: 'Change the role of' } as const

/** Describes the change from the bytes that are signed: name and value of each line. */
export function describeMember(statement: MemberStatement): [name: string, value: string][] {
  const { action, role, accountId, email, personId, acceptBeforeMs } = statement
  const lines: [string, string][] = []
  if (action !== 'remove') lines.push([TITLES[action], `${email} (${personId})`])
  lines.push([action === 'change' ? 'To' : 'As', role])
  lines.push(['Who then may', MAY[role]], ['In the account', accountId])
  if (action === 'invite') lines.push(['To be accepted before', isoTime(acceptBeforeMs)])
  return lines
}

function takeText(reader: ByteReader, charsMax: number): string {
  const bytes = takeSized(reader)
  const text = viewOf(bytes).toString('utf8')
  // A text has only one encoding, so that a statement keeps its bytes when it is encoded again.
  if (!Buffer.from(text, 'utf8').equals(viewOf(bytes))) throw malformed()
  requireText(text, charsMax)
  return text
}

function requireText(text: string, charsMax: number): void {
  if (text.length === 0 || text.length > charsMax || UNSHOWABLE.test(text)) throw malformed()
}

function nameOf<Name extends string>(
  numbers: Readonly<Record<Name, number>>,
  number: number,
): Name {
  for (const name of Object.keys(numbers) as Name[]) if (numbers[name] === number) return name
  throw malformed()
}

function malformed(): Refusal {
  return new Refusal('MALFORMED', 'member statement')
}
