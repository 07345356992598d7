import type { RefusedCall } from './messages.js'
import type { PreparedSponsored } from './sponsored-messages.js'
import type { SponsoredDraft } from './sponsored-state.js'

/** As the audit trail shows it: the Router's call, with the venue's calldata. */
export function callOf(command: PreparedSponsored | SponsoredDraft): RefusedCall {
  const { txId, keyId, requestId, chainId, kind, router } = command
  const quoted = 'quote' in command ? command.quote : null
  const terms = quoted === null ? 'terms' in command && command.terms : quoted.ok && quoted.terms
  const data = terms !== false && terms.ok ? terms.value.data : '0x'
  return { txId, keyId, requestId, kind, call: { chainId, to: router, value: 0n, data } }
}
