import { APPROVALS } from './approvals.js'
import { AUTHORIZERS } from './authorizers.js'
import { FREEZES } from './freezes.js'
import { GRANTS } from './grants.js'
import { MEMBERS } from './members.js'
import type { Methods } from './method.js'
import { SIGNING } from './signing.js'
import { STARTS } from './starts.js'
import { WALLETS } from './wallets.js'

/** The methods of the identity provider. */
export const USER_SIDE = {
  ...STARTS,
  ...SIGNING,
  ...GRANTS,
  ...AUTHORIZERS,
  ...FREEZES,
  ...APPROVALS,
  ...MEMBERS,
  ...WALLETS,
} as const satisfies Methods
