import { createPrivateKey } from 'node:crypto'
import type { AuthorizerStore } from '../../custody/authorizers/authorizer-store.js'
import type { Confirmable } from '../../custody/authorizers/confirmable.js'
import { CONFIRMATION_LIFE_MS } from '../../custody/authorizers/grant-statement.js'
import { decodeProof, encodeProof } from '../../custody/authorizers/proof.js'
import { verifyProof } from '../../custody/authorizers/verify-proof.js'
import { readPrivateFile } from '../../custody/domain-keys/private-file.js'
import type { Persons } from '../../custody/members/persons.js'
import type { Power } from '../../domain/role.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { type P256Signer, p256SignerOf } from '../../quorum-protocol/p256.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { RegistryHolder } from '../../quorum-protocol/registry-holder.js'

/**
 * Confirms that the user wants a grant enlarged or a freeze lifted. A console token is not enough,
 * because the identity provider itself could issue one.
 */
export interface Authorizer {
  /** A sentence for the log at the start. */
  readonly announcement: string
  /**
   * Verifies a confirmation.
   * @param confirmation an encoded proof over the statement; null when the caller sent none
   * @param power the power that the authorizer's person needs in the account; the default is to
   * enlarge. With `own`, `ownerHash` is a person's, and the authorizer must be that person's own
   * @throws Refusal NOT_CONFIRMED or MALFORMED
   */
  confirm(
    statement: Asked,
    confirmation: Uint8Array | null,
    nowMs: number,
    power?: Power | 'own',
  ): Promise<Confirmation>
  /**
   * Called in the step that applies a change, because the person who confirmed it may have been
   * removed in between.
   * @throws Refusal NOT_CONFIRMED
   */
  requireStanding(confirmation: Confirmation, ownerHash: Uint8Array): void
  /**
   * Called once the change is in force: from now on the authenticator's signature counter must be
   * higher.
   */
  spend(confirmation: Confirmation): Promise<void>
}

export interface Confirmation {
  /** The encoded proof, for the service and the evidence. */
  readonly proof: Uint8Array
  readonly authorizerId: Uint8Array | null
  readonly signCount: number
}

/** The parts of a statement that a confirmation covers. */
export type Asked = Pick<Confirmable, 'message' | 'ownerHash' | 'confirmBeforeMs'>

/** The confirmation of a change that takes away or changes nothing. */
export const NOTHING_CONFIRMED: Confirmation = {
  proof: Buffer.alloc(0),
  authorizerId: null,
  signCount: 0,
}

/** The two domains' clocks may differ. */
const CLOCK_SLACK_MS = 60_000

/**
 * @param software dev only: signs for users without an authorizer of their own, by the same
 * sign-and-verify path as a user's own
 */
export function createAuthorizer(
  store: Pick<AuthorizerStore, 'signCount' | 'raiseSignCount'>,
  persons: Persons,
  registry: RegistryHolder,
  software: P256Signer | null,
): Authorizer {
  return {
    announcement:
      software === null
        ? "only users' passkeys and P-256 keys can enlarge grants"
        : 'dev: a software key confirms the grants of users without a passkey or P-256 key',
    async confirm(statement, confirmation, nowMs, power = 'enlarge') {
      const { webauthn, softwareAuthorizer } = registry.current
      const { ownerHash } = statement
      const active =
        power === 'own'
          ? persons.ownAuthorizersOf(ownerHash)
          : persons.authorizersOf(ownerHash, power)
      const { message } = statement
      if (confirmation === null && (software === null || active.length > 0)) {
        throw new Refusal('NOT_CONFIRMED', 'an authorizer of the user must confirm it')
      }
      if (confirmation !== null) checkTime(statement.confirmBeforeMs, nowMs)
      const encoded = confirmation ?? (await softwareProof(software, message))
      const verdict = await verifyProof(decodeProof(encoded), message, {
        authorizers: active,
        webauthn,
        softwareAuthorizer,
        signCount: store.signCount,
      })
      if (!verdict.ok) throw new Refusal('NOT_CONFIRMED', verdict.reason)
      return {
        proof: encoded,
        authorizerId: verdict.authorizer?.id ?? null,
        signCount: verdict.signCount,
      }
    },
    requireStanding({ authorizerId }, ownerHash) {
      if (authorizerId === null) return
      const standing = persons.authorizersOf(ownerHash, 'enlarge')
      if (!standing.some(({ id }) => sameBytes(id, authorizerId))) {
        throw new Refusal('NOT_CONFIRMED', 'the user no longer has this authorizer')
      }
    },
    async spend({ authorizerId, signCount }) {
      if (authorizerId !== null) await store.raiseSignCount(authorizerId, signCount)
    },
  }
}

/** @throws Error when the key is missing or readable by others */
export function openSoftwareAuthorizer(path: string): P256Signer {
  const pem = readPrivateFile(path)
  const signer = p256SignerOf(createPrivateKey(pem))
  pem.fill(0)
  return signer
}

async function softwareProof(software: P256Signer | null, message: Uint8Array): Promise<Buffer> {
  if (software === null) throw new Refusal('NOT_CONFIRMED', 'no software authorizer')
  return encodeProof({ kind: 'software', signature: await software.sign(message) })
}

/** Bounds the lifetime of a proof, so that an old one cannot be used later. */
function checkTime(confirmBeforeMs: number, nowMs: number): void {
  if (confirmBeforeMs <= nowMs) throw new Refusal('NOT_CONFIRMED', 'confirmed too late')
  if (confirmBeforeMs > nowMs + CONFIRMATION_LIFE_MS + CLOCK_SLACK_MS) {
    throw new Refusal('NOT_CONFIRMED', 'the confirmation would be good for too long')
  }
}
