import type { AuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import { decodeProof } from '../../custody/authorizers/proof.js'
import { verifyProof } from '../../custody/authorizers/verify-proof.js'
import { createPersons } from '../../custody/members/persons.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { Registry } from '../../quorum-protocol/registry.js'
import type { LedgerStore } from './ledger-store.js'

/** The stores of a restored ledger that confirmations depend on. */
export interface ConfirmingStores {
  readonly ledger: LedgerStore
  readonly authorizers: AuthorizerStore
}

/** Tells whether a present authorizer of an owner signed it. With `own`, the hash is a person's. */
export async function isConfirmed(
  ownerHash: Uint8Array,
  message: Uint8Array,
  proof: Uint8Array,
  { ledger, authorizers }: ConfirmingStores,
  registry: Registry,
  of: 'owners' | 'own' = 'owners',
): Promise<boolean> {
  if (proof.length === 0) return false
  try {
    const persons = createPersons(ledger, authorizers)
    const verdict = await verifyProof(decodeProof(proof), message, {
      authorizers:
        of === 'own'
          ? persons.ownAuthorizersOf(ownerHash)
          : persons.authorizersOf(ownerHash, 'enlarge'),
      webauthn: registry.webauthn,
      softwareAuthorizer: registry.softwareAuthorizer,
      signCount: () => 0,
    })
    if (!verdict.ok) return false
    const { authorizer, signCount } = verdict
    if (authorizer !== null) await authorizers.raiseSignCount(authorizer.id, signCount)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
