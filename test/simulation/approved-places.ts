import { placeOf as useOf } from '../../src/identity-provider/vault/approval-standing.js'
import type { LedgerWriter } from '../../src/identity-provider/vault/ledger-store.js'
import { entryOf } from '../../src/identity-provider/vault/nonce-ledger.js'
import { decodeIntent, intentId, isAbsent } from '../../src/quorum-protocol/intent.js'
import { decodePayload } from '../../src/quorum-protocol/payload.js'

interface Place {
  readonly walletId: Uint8Array
  readonly chainId: number
  readonly nonce: number
  /** Of all that was approved there, without fees: whether it ever said what it replaces. */
  readonly bodies: Map<string, boolean>
}

/** What the user side ever approved, by its evidence, and where. */
export class ApprovedPlaces {
  readonly #places = new Map<string, Place>()
  /** By approval: where it was used. */
  readonly #uses = new Map<string, string>()

  /** @returns what must not be about it; null: nothing */
  note(encoded: Uint8Array): string | null {
    const intent = decodeIntent(encoded)
    const payload = decodePayload(intent.type, intent.payload)
    const { walletId, replaces, approval } = intent
    if (payload.kind !== 'router-intent') {
      const { chainId, nonce } = payload
      const name = `${nameOf(walletId)} ${chainId} ${nonce}`
      const place = this.#places.get(name) ?? { walletId, chainId, nonce, bodies: new Map() }
      const body = nameOf(entryOf(intentId(encoded), payload, intent.payload, null).bodyHash)
      place.bodies.set(body, place.bodies.get(body) === true || !isAbsent(replaces))
      this.#places.set(name, place)
    }
    const use = useOf(payload)
    if (approval === null || use === null) return null
    const id = nameOf(approval.approvalId)
    const before = this.#uses.get(id) ?? nameOf(use)
    this.#uses.set(id, before)
    return before === nameOf(use) ? null : `approval ${id} was used twice`
  }

  /** Where something was approved and nothing is remembered. */
  *forgottenBy({ entry }: Pick<LedgerWriter, 'entry'>): Iterable<string> {
    for (const [name, { walletId, chainId, nonce }] of this.#places) {
      if (entry(walletId, chainId, nonce) === null) yield name
    }
  }

  /** Where two calls were approved that do not know of each other. */
  *twice(): Iterable<string> {
    for (const [name, { bodies }] of this.#places) {
      const unknowing = [...bodies.values()].filter((isReplacement) => !isReplacement)
      if (unknowing.length > 1) yield name
    }
  }
}

function nameOf(id: Uint8Array): string {
  return Buffer.from(id).toString('hex')
}
