import { MEMBER_ACTIONS, MEMBERS_MAX } from '../../domain/members.js'
import { ROLES } from '../../domain/role.js'
import { PROOF_BYTES_MAX } from '../limits.js'
import {
  bytes,
  bytesUpTo,
  choice,
  flag,
  integer,
  list,
  nothing,
  orNull,
  positional,
  text,
} from './codec.js'
import type { Methods, ResultOf } from './method.js'
import { TOKEN_CHARS_MAX, USER_ID_CHARS_MAX } from './person-fields.js'

/** How many accounts the identity provider sends at once. */
export const ACCOUNTS_PER_ANSWER = 64
/** With proofs of 4 KiB this many fit one frame. */
export const STATEMENTS_PER_ANSWER = 64

const TEXT_CHARS_MAX = 255
const PLAN = 'plan of a member'
const ANY = Number.POSITIVE_INFINITY

/** Members of accounts: the first two change them, the others let the service follow. */
export const MEMBERS = {
  'member-plan': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({
      accountId: text(TEXT_CHARS_MAX, 'text'),
      action: choice(MEMBER_ACTIONS, 'action'),
      /** The e-mail address for an invitation, empty for an acceptance, else the person's id. */
      who: text(TEXT_CHARS_MAX, 'text'),
      consoleToken: text(TOKEN_CHARS_MAX, 'text'),
    }),
    /**
     * The content of a statement about the change: `byId` requests it, `sequence` is the next,
     * `role` the present one. Null when there is no such person.
     */
    result: orNull(
      positional(
        {
          personId: text(ANY, PLAN),
          email: text(ANY, PLAN),
          byId: text(ANY, PLAN),
          sequence: integer,
          role: choice(ROLES, PLAN),
        },
        5,
      ),
    ),
  },
  'member-put': {
    callClass: 'console',
    admits: 'served',
    parameters: positional({
      statement: bytes(),
      proof: orNull(bytesUpTo(PROOF_BYTES_MAX, 'proof')),
      consoleToken: text(TOKEN_CHARS_MAX, 'text'),
    }),
    result: nothing,
  },
  'members-changed': {
    callClass: 'console',
    admits: 'served',
    /** Both of the previous answer; another epoch starts from the beginning. */
    parameters: positional({ epoch: bytes(), after: integer }),
    result: positional(
      {
        epoch: bytes(16),
        accounts: list(
          positional({ number: integer, accountId: text(ANY, 'account'), sequence: integer }, 3),
          ACCOUNTS_PER_ANSWER,
        ),
      },
      2,
    ),
  },
  'members-get': {
    callClass: 'console',
    admits: 'served',
    /** `after`: the last known sequence. */
    parameters: positional({ accountId: text(USER_ID_CHARS_MAX, 'account'), after: integer }),
    result: positional(
      {
        sequence: integer,
        /** `accepted` is false for an open invitation. */
        members: list(
          positional(
            {
              personId: text(ANY, 'member'),
              role: choice(ROLES, 'member'),
              accepted: flag('member'),
            },
            3,
          ),
          MEMBERS_MAX,
        ),
        /** The statements after that sequence, each followed by its proof. */
        changes: list(positional({ timeMs: integer, body: bytes() }, 2), STATEMENTS_PER_ANSWER),
      },
      3,
    ),
  },
} as const satisfies Methods

export type MemberPlan = NonNullable<ResultOf<(typeof MEMBERS)['member-plan']>>
