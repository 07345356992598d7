import { z } from 'zod'
import { ROLES } from '../domain/role.js'
import { authorization, authorizedBy, frozen } from './console.js'
import { timestamp } from './primitives.js'

/** The other members of an account, and their roles. */

const role = z.enum(ROLES)
/** RFC 5321, section 4.5.3.1.3, less the angle brackets. */
const email = z.string().min(3).max(254)
const personId = z.string().min(1).max(255).describe('as `list_members` gives it')
const accountId = z.string().min(1).max(255).describe('as `get_user` gives it')

const member = z.looseObject({
  person_id: z.string(),
  email: z.string().nullable().describe('as of the invitation; null for the first owner'),
  role,
  status: z.enum(['member', 'invited']),
  since: timestamp.nullable().describe('since when they have the role; null for the first owner'),
  by: z.string().nullable().describe('the person who gave the role'),
  accept_before: timestamp.nullable().describe('expiry of an invitation'),
})
export const memberList = z.looseObject({ account_id: z.string(), members: z.array(member) })

export const inviteMemberInput = z.strictObject({
  email: email.describe('the address with which the person signs in here'),
  role,
  authorization: authorization.optional(),
})
export const memberInvited = z.looseObject({
  person_id: z.string(),
  email: z.string(),
  role,
  accept_before: timestamp,
  invitation_path: z
    .string()
    .describe(
      'path for the person, at this address; it contains no secret, because only they can accept, once, with their passkey',
    ),
  mailed: z
    .boolean()
    .describe('whether the operator’s mail server notified them; if not, the owner does'),
  authorized_by: authorizedBy.nullable(),
})

export const changeMemberInput = z.strictObject({
  person_id: personId,
  role,
  authorization: authorization.optional(),
})
export const memberChanged = z.looseObject({
  person_id: z.string(),
  role,
  role_before: role,
  authorized_by: authorizedBy.nullable().describe('null if the role was lowered'),
})

export const removeMemberInput = z.strictObject({ person_id: personId })
export const memberRemoved = z.looseObject({ person_id: z.string(), removed: z.literal(true) })

export const acceptInvitationInput = z.strictObject({
  account_id: accountId,
  authorization: authorization.optional(),
})
export const invitationInput = z.strictObject({ account_id: accountId })
export const invitationAnswered = z.looseObject({
  account_id: z.string(),
  role: role.nullable().describe('your role there from now on; null: none'),
})

/** The person who is signed in, the account, and the person's other accounts. */
export const user = z.looseObject({
  user_id: z.string().describe('the account'),
  environment: z
    .enum(['live', 'test'])
    .describe('environment of this service and of every key that it issues'),
  email: z.string().nullable(),
  frozen,
  person_id: z.string().describe('who is signed in; equal to user_id in their own account'),
  role: role.describe("the person's role in the account"),
  accounts: z
    .array(z.looseObject({ account_id: z.string(), role }))
    .describe('accounts of the person, their own first'),
  invitations: z
    .array(z.looseObject({ account_id: z.string(), role, accept_before: timestamp }))
    .describe('invitations that wait for the person'),
})
