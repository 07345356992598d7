import { isoTime } from '../../domain/iso-time.js'
import { MISLEADING } from '../../domain/printable.js'
import type { Role } from '../../domain/role.js'
import { ByteReader, concat, u8, u32, u64, viewOf } from '../../quorum-protocol/bytes.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { sha256, TAG, tagged } from '../../quorum-protocol/tagged.js'
import { sized, takeSized } from '../authorizers/proof.js'

/**
 * What becomes of a person's place in an account, in canonical bytes: what an owner's authorizer
 * signs to invite a person or raise a role, and what the evidence holds. The sequence makes each
 * statement good for one change alone.
 *
 * | action | by | proof |
 * |---|---|---|
 * | invite | an owner | of an owner's authorizer |
 * | accept | the person | of an authorizer of the person's own |
 * | change | an owner | of an owner's authorizer, where the new role may what the old one may not |
 * | remove | an owner, or the person | none |
 */
export interface MemberStatement {
  readonly action: MemberAction
  /** From then on; of a removal, the one that ends. */
  readonly role: Role
  readonly accountId: string
  /** Counts the changes of this account's members. */
  readonly sequence: number
  readonly personId: string
  /** The person's, as an owner was shown it. */
  readonly email: string
  /** Who asked for it. */
  readonly byId: string
  /** Of an invitation: until when it may be accepted, ms since the epoch; else 0. */
  readonly acceptBeforeMs: number
  /** Until when a proof over it is taken, ms since the epoch; 0 where none is needed. */
  readonly confirmBeforeMs: number
}

export type MemberAction = 'invite' | 'accept' | 'change' | 'remove'

const MAGIC = 'AWM1'
const ACTIONS = { invite: 1, accept: 2, change: 3, remove: 4 } as const
const ROLE_NUMBERS: Readonly<Record<Role, number>> = {
  owner: 1,
  approver: 2,
  operator: 3,
  viewer: 4,
}
/** As long as the subject of a token. */
const ID_CHARS_MAX = 255
/** RFC 5321, section 4.5.3.1.3, less the angle brackets. */
const EMAIL_CHARS_MAX = 254
/** What is signed is shown in words: nothing in it may be shown as something else. */
const UNSHOWABLE = new RegExp(`[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}${MISLEADING}]`, 'u')

/** @throws Refusal MALFORMED where a name could be shown as another one, or is too long */
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

/** What a P-256 authorizer signs; a passkey's challenge is its SHA-256. */
export function memberMessage(encoded: Uint8Array): Buffer {
  return tagged(TAG.memberChange, encoded)
}

/** Whose authorizers sign it, 32 bytes: the account's owners', or of an acceptance the person's own. */
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

/** In words, read from what is signed: name and value of each line. */
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
  // One form of bytes for one text, so that a statement that is read is encoded as it was.
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
