import { LRUCache } from 'lru-cache'
import { viewOf } from '../quorum-protocol/bytes.js'
import type { SocketClient } from '../quorum-protocol/client.js'
import { askUserSide } from '../quorum-protocol/methods/ask.js'

/**
 * The grant and version that the identity provider holds for a key. It is a hint only; the identity
 * provider judges.
 */
export interface GrantReference {
  /** 16 bytes. */
  readonly grantId: Uint8Array
  readonly version: number
}

export interface GrantReferences {
  /**
   * @throws Refusal UNKNOWN_KEY
   * @throws Unanswered
   */
  of(keyId: Uint8Array): Promise<GrantReference> | GrantReference
  remember(keyId: Uint8Array, reference: GrantReference): void
  /** Called after an answer that the reference is stale. */
  forget(keyId: Uint8Array): void
}

const REFERENCES_MAX = 50_000

export function createGrantReferences(userSide: Pick<SocketClient, 'call'>): GrantReferences {
  const known = new LRUCache<string, GrantReference>({ max: REFERENCES_MAX })
  const asking = new Map<string, Promise<GrantReference>>()

  async function ask(name: string, keyId: Uint8Array): Promise<GrantReference> {
    try {
      const reference = await askUserSide(userSide, 'grant-get', { keyId })
      known.set(name, reference)
      return reference
    } finally {
      asking.delete(name)
    }
  }

  return {
    of(keyId) {
      const name = nameOf(keyId)
      const reference = known.get(name)
      if (reference !== undefined) return reference
      // A burst with one key causes one request; the client bounds how many keys are requested
      // at once.
      const pending = asking.get(name) ?? ask(name, keyId)
      asking.set(name, pending)
      return pending
    },
    remember(keyId, reference) {
      known.set(nameOf(keyId), reference)
    },
    forget(keyId) {
      known.delete(nameOf(keyId))
    },
  }
}

function nameOf(keyId: Uint8Array): string {
  return viewOf(keyId).toString('latin1')
}
