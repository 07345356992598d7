import { z } from 'zod'
import { ROLES } from '../domain/role.js'
import { authorization, authorizedBy, frozen } from './console.js'
import { timestamp } from './primitives.js'

/** Who else has a place in an account, and what they may there. */

export const role = z.enum(ROLES)
/** RFC 5321, section 4.5.3.1.3, less the angle brackets. */
const email = z.string().min(3).max(254)
const personId = z.string().min(1).max(255).describe('as `list_members` gives it')
const accountId = z.string().min(1).max(255).describe('as `get_user` gives it')

export const member = z.looseObject({
  person_id: z.string(),
  email: z
    .string()
    .nullable()
    .describe('as it was when they were invited; null of whom the account began with'),
  role,
  status: z.enum(['member', 'invited']),
  since: timestamp.nullable().describe('of the role; null of whom the account began with'),
  by: z.string().nullable().describe('who gave the role'),
  accept_before: timestamp.nullable().describe('of an invitation'),
})
export const memberList = z.looseObject({ account_id: z.string(), members: z.array(member) })

export const inviteMemberInput = z.strictObject({
  email: email.describe('by which the person signs in here'),
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
      'for the person, at this address; it holds no secret, since they alone may accept, by a passkey of theirs, once',
    ),
  mailed: z
    .boolean()
    .describe('by the operator’s mail server, to that address; else the owner tells the person'),
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
  authorized_by: authorizedBy.nullable().describe('null where the role was lowered'),
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
  role: role.nullable().describe('what you are there from now on; null: nothing'),
})

/** Who is signed in, to which account, and where else they have a place. */
export const user = z.looseObject({
  user_id: z.string().describe('the account'),
  email: z.string().nullable(),
  frozen,
  person_id: z.string().describe('who is signed in; of their own account the same'),
  role: role.describe('what the person may in the account'),
  accounts: z
    .array(z.looseObject({ account_id: z.string(), role }))
    .describe('that the person is a member of, their own first'),
  invitations: z
    .array(z.looseObject({ account_id: z.string(), role, accept_before: timestamp }))
    .describe('that wait for the person'),
})
