import { ACCOUNTS } from './cases-accounts.js'
import { APPROVALS } from './cases-approvals.js'
import { DECEIT } from './cases-deceit.js'
import { HONEST } from './cases-honest.js'
import { KEYS } from './cases-keys.js'
import { PLACES } from './cases-places.js'
import { POWERS } from './cases-powers.js'
import { RACES } from './cases-races.js'
import { VENUES } from './cases-venues.js'
import { judgeDrains } from './judge.js'

judgeDrains([
  ['what lets others move money', APPROVALS],
  ['what others hold for a wallet', PLACES],
  ['what an account of the wallet is told', ACCOUNTS],
  ['powers over what a wallet owns', POWERS],
  ['contracts and tokens that deceive', DECEIT],
  ['venues that everybody uses', VENUES],
  ['several keys and the service’s own flows', KEYS],
  ['calls that no block has yet', RACES],
  ['honest use', HONEST],
])
